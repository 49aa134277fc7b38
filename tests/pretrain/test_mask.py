import numpy as np
import pytest
from scipy.stats import chisquare

from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED, Masking
from tests.pretrain.made import DERIVED, SOURCE

FIRST = len(OURS.ids)

SIZE = 105
IMAGE = np.where(np.arange(SIZE) < FIRST, np.arange(SIZE), np.arange(SIZE) + SIZE)


def draw(rows=2000, length=128, rate=0.15, seed=0):
    random = np.random.default_rng(seed)
    words = random.integers(FIRST, SIZE, (rows, length))
    languages = np.repeat(np.arange(rows)[:, None] % 2, length, axis=1)
    ids = np.where(languages == DERIVED, IMAGE[words], words)
    ids = np.where(random.random(ids.shape) < 0.2, random.integers(0, FIRST, ids.shape), ids)
    return ids, languages, Masking(OURS, np.stack([np.arange(SIZE), IMAGE]), rate)(ids, languages, random)


def within(count, of, share):
    return abs(count - of * share) < 4 * np.sqrt(of * share * (1 - share))


@pytest.mark.parametrize("rate", [0.15, 0.3])
def test_shares(rate):
    ids, _, rows = draw(rate=rate)
    shown, labels = rows.ids.numpy(), rows.labels.numpy()
    selected = labels != UNLABELLED
    assert within(selected.sum(), (ids >= FIRST).sum(), rate)
    n = selected.sum()
    random_share = 0.1 * (1 - 1 / (SIZE - FIRST))
    assert within((shown[selected] == OURS.mask).sum(), n, 0.8)
    assert within((shown[selected] == ids[selected]).sum(), n, 0.2 - random_share)
    assert within(
        ((shown[selected] != OURS.mask) & (shown[selected] != ids[selected])).sum(), n, random_share
    )


def test_masking_changes_only_selected_ids():
    ids, languages, rows = draw()
    selected = rows.labels.numpy() != UNLABELLED
    assert (ids[selected] >= FIRST).all()
    assert np.array_equal(rows.labels.numpy()[selected], ids[selected])
    assert np.array_equal(rows.ids.numpy()[~selected], ids[~selected])
    assert np.array_equal(rows.languages.numpy(), languages)
    assert rows.labelled == selected.sum()


@pytest.mark.parametrize("language", [SOURCE, DERIVED])
def test_random_replacements_are_uniform(language):
    ids, languages, rows = draw()
    shown = rows.ids.numpy()
    replaced = (shown != ids) & (shown != OURS.mask) & (languages == language)
    own = np.arange(FIRST, SIZE) + language * SIZE
    assert set(shown[replaced].tolist()) == set(own.tolist())
    assert chisquare([(shown[replaced] == word).sum() for word in own]).pvalue > 1e-4
