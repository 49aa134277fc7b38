from collections import Counter

import numpy as np
import pytest

from calque.derive.languages import Languages
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import TLM
from tests.pretrain.made import MODEL

NAMES = ("trans", "trans-25.inv", "inv")


@pytest.fixture(scope="module")
def languages(several):
    return Languages.open(several, NAMES)


def meaning(languages):
    """The source type of each id in each language, (languages, rows); -1 if the language lacks the id."""
    types = np.full((len(languages.languages), languages.rows), -1)
    for language in languages.languages:
        types[language.number, language.table] = np.arange(languages.size)
    return types


def test_rows_of_a_language_contain_only_its_ids(languages):
    (stream,) = MLM(mask_rate=1.0).streams(languages, MODEL.length, 0)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    assert set(rows.languages.unique().tolist()) == {0, 1, 2, 3}
    types, numbers = meaning(languages), rows.languages.numpy()
    shown, labels = rows.ids.numpy(), rows.labels.numpy()
    assert (types[numbers, shown] >= 0).all()  # even random replacements
    asked = labels != UNLABELLED
    assert (types[numbers[asked], labels[asked]] >= 0).all()
    assert (labels[asked] != shown[asked]).any()


@pytest.mark.parametrize("fraction", [0.5, 1.0])
def test_parallel_rows_pair_the_source_with_each_language(languages, fraction):
    (stream,) = TLM(fraction, mask_rate=0.0).streams(languages, 2 * MODEL.length, 0)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    types, met = meaning(languages), Counter()
    for ids, numbers in zip(rows.ids.numpy(), rows.languages.numpy(), strict=True):
        sides = []
        for half in np.split(np.arange(len(ids)), 2):
            real = half[numbers[half] != languages.padding]
            (language,) = set(numbers[real].tolist())
            sides.append((language, sorted(types[language, ids[real]].tolist())))
        (source, words), (other, images) = sides
        assert source == 0 and words == images
        met[other] += 1
    assert met.keys() == {1, 2, 3}
    assert met.total() == stream.instances
