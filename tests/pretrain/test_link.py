import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.pretrain.model import state_of
from calque.pretrain.objectives.dict_mlm import Link
from calque.pretrain.objectives.mlm import MLM
from tests.pretrain.made import LANGUAGE, SIZE, SOURCE, STILL, fit, new_learner, only, with_dictionary

LENGTH = STILL.length


def drawn(objective, languages, seed):
    stream = only(objective, languages)
    rows, counts = stream.draw(range(stream.instances), np.random.default_rng(seed))
    return rows, counts


@pytest.fixture(scope="module")
def told_nothing(study, tmp_path_factory):
    return with_dictionary(study, tmp_path_factory.mktemp("told") / "nothing", [])


def weights(objective, languages):
    learner = new_learner(objective)
    fit(learner, objective.streams(languages, LENGTH, 0))
    return [tensor.numpy().tobytes() for tensor in state_of(learner).values()]


def test_link_without_entries_is_mlm(languages, told_nothing):
    mlm = weights(MLM(), languages)
    assert weights(Link(0.5), told_nothing) == weights(Link(1e-12), languages) == mlm
    assert weights(Link(0.5), languages) != mlm


@given(st.integers(0, 2**32), st.floats(0, 1, exclude_min=True))
def test_link_replaces_only_visible_source_words(languages, seed, share):
    (rows, counts), (plain, same) = drawn(Link(share), languages, seed), drawn(MLM(), languages, seed)
    image = dict(languages.dictionary("source", LANGUAGE).tolist())
    assert counts == same
    assert rows.labels.equal(plain.labels)
    assert rows.languages.equal(plain.languages)
    changed = rows.ids != plain.ids
    assert (rows.languages[changed] == SOURCE).all()
    assert [image[i] for i in plain.ids[changed].tolist()] == rows.ids[changed].tolist()


def test_share_is_of_visible_source_words(languages):
    known = np.isin(np.arange(2 * SIZE), languages.dictionary("source", LANGUAGE)[:, 0])
    for share in (0.05, 0.25, 1.0):
        switched = could = 0
        for seed in range(20):
            rows, _ = drawn(Link(share), languages, seed)
            shown, plain = rows.ids.numpy(), drawn(MLM(), languages, seed)[0].ids.numpy()
            clean, numbers = only(MLM(), languages).read(range(len(shown)))
            could += int((known[plain] & (plain == clean) & (numbers == SOURCE)).sum())
            switched += int((shown != plain).sum())
        assert abs(switched - share * could) <= 4 * np.sqrt(could * share * (1 - share))
