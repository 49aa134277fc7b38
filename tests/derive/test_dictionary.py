import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.dictionary import DictionaryConfig, draw_dictionary, with_wrong_pairs
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS

FIRST = len(OURS.ids)

SIZE = 400
IMAGE = Transliterate().image(SIZE)
COUNTS = np.random.default_rng(0).zipf(1.5, SIZE)
COUNTS[:FIRST] = 0
COUNTS[300:320] = 0
TYPES = np.flatnonzero(COUNTS)


@given(st.floats(0, 1), st.sampled_from(["uniform", "frequency"]), st.integers(0, 99))
def test_dictionary_has_an_exact_share_of_types(fraction, by, seed):
    pairs = draw_dictionary(DictionaryConfig(fraction, by, seed), TYPES, COUNTS, IMAGE)
    assert pairs.shape == (round(fraction * len(TYPES)), 2)
    assert pairs.dtype == np.int64
    assert np.all(np.diff(pairs[:, 0]) > 0)
    assert np.isin(pairs[:, 0], TYPES).all()
    assert np.array_equal(pairs[:, 1], IMAGE[pairs[:, 0]])


SHARED = Transliterate(0.5).image(SIZE)


def wrong_of(config, image, tags=None):
    return with_wrong_pairs(config, draw_dictionary(config, TYPES, COUNTS, image), tags)


@given(st.floats(0, 0.9), st.sampled_from([IMAGE, SHARED]), st.integers(0, 99))
def test_wrong_pairs_exchange_their_images_in_one_cycle(correct, image, seed):
    config = DictionaryConfig(0.5, seed=seed, correct=correct)
    drawn = draw_dictionary(config, TYPES, COUNTS, image)
    pairs, unlike = wrong_of(config, image)
    assert pairs[:, 0].tolist() == drawn[:, 0].tolist() and sorted(pairs[:, 1]) == sorted(drawn[:, 1])
    source = {int(image[i]): i for i in TYPES.tolist()}
    partner = {a: source[b] for a, b in pairs.tolist() if b != image[a]}
    moved = int((drawn[:, 0] != drawn[:, 1]).sum())
    assert len(partner) == moved - round(correct * moved) and unlike == 0
    first = at = next(iter(partner))
    for steps in range(1, len(partner) + 1):
        at = partner[at]
        assert (at == first) == (steps == len(partner))


@given(st.lists(st.sampled_from(["", "A", "B", "C"]), min_size=2, max_size=9), st.integers(0, 99))
def test_wrong_pairs_of_the_same_tag_are_maximal(names, seed):
    tags, pairs = (
        np.array(names, object),
        np.stack([np.arange(len(names)), 100 + np.arange(len(names))], axis=1),
    )
    found, unlike = with_wrong_pairs(DictionaryConfig(seed=seed, correct=0.0, wrong="same-tag"), pairs, tags)
    assert sorted(found[:, 1]) == pairs[:, 1].tolist() and (found[:, 1] != pairs[:, 1]).all()
    partners = found[:, 1] - 100
    assert unlike == sum(not a or a != b for a, b in zip(names, tags[partners], strict=True))
    alone = sum(not tag or names.count(tag) == 1 for tag in names)
    assert unlike == (2 if alone == 1 else alone)
