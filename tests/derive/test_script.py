from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.languages import in_places
from calque.derive.order import Invert
from calque.derive.transform import compose
from calque.derive.transforms import KINDS, Cognates, Transliterate
from calque.derive.vocabulary import CLASSES, NEARLY, OURS, Usage
from tests.derive.strategies import law

LARGE = 10**9
some = settings(law, max_examples=200)
FIRST = len(OURS.ids)

sizes, seeds = st.integers(FIRST, 400), st.integers(0, 99)
overlaps = st.floats(0, 1)


@law
@given(sizes, overlaps, seeds)
def test_overlap_is_exact_and_specials_stay(size, overlap, seed):
    image = Transliterate(overlap, seed).image(size)
    shared = image == np.arange(size)
    assert shared[:FIRST].all()
    assert shared[FIRST:].sum() == round(overlap * (size - FIRST))
    assert np.array_equal(image[~shared], np.flatnonzero(~shared) + size)


def usage_of(size, seed):
    random = np.random.default_rng(seed)
    table = np.zeros((5, size), np.int64)
    table[0, FIRST:] = random.integers(0, 6, size - FIRST) * random.integers(1, 50, size - FIRST)
    table[1] = random.integers(0, table[0] + 1)
    for i in range(FIRST, size):
        table[2:, i] = random.multinomial(
            table[0, i], random.choice([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3] * 3])
        )
    return Usage(*table)


def kind_of(usage, by):
    return usage.of_class(by) if by in ("function", "names", "content") else usage.counts > 0


@some
@given(
    st.integers(60, 400), st.floats(0.01, 1), seeds, st.sampled_from([by for by in KINDS if by != "uniform"])
)
def test_share_of_a_kind_is_exact(size, overlap, seed, by):
    usage, transform = usage_of(size, seed), Transliterate(overlap, seed, by=by)
    kind = kind_of(usage, by)
    if not round(overlap * kind.sum()):
        with pytest.raises(BadInput, match=f"of {kind.sum()} types is less than one type"):
            transform.ready(usage=usage).image(size)
        return
    image = transform.ready(usage=usage).image(size)
    shared = image == np.arange(size)
    assert shared[:FIRST].all()
    assert np.array_equal(image[~shared], np.flatnonzero(~shared) + size)
    shared[:FIRST] = False
    assert shared.sum() == round(overlap * kind.sum())
    assert not (shared & ~kind).any()
    left = usage.counts[kind & ~shared]
    if by == "most-frequent":
        assert usage.counts[shared].min() >= left.max(initial=0)
    elif by == "least-frequent":
        assert usage.counts[shared].max() <= left.min(initial=LARGE)


@law
@given(st.text())
def test_spelling_twice_is_the_identity(word):
    spell = Transliterate().spell
    assert spell(spell(word)) == word


SIZE = 60
texts = st.lists(st.lists(st.integers(FIRST, SIZE - 1), min_size=1, max_size=4), min_size=1, max_size=12)


def derived(transform, text):
    ids, pieces = np.array([i for word in text for i in word]), np.array([len(word) for word in text])
    usage = Usage.of(ids, pieces, [""] * len(text), SIZE)
    made = transform.ready(usage=usage)
    return ids, in_places(ids, pieces, made.image(SIZE), made.places(SIZE)), pieces


@some
@given(texts, overlaps, seeds)
def test_cognates_share_no_word_and_can_be_inverted(text, share, seed):
    ids, image, pieces = derived(Cognates(share, seed), text)
    composed = derived(compose(Cognates(share, seed), Invert()), text)
    assert np.array_equal(composed[1], image)  # another order does not change a word's form
    assert np.array_equal(image % SIZE, ids)
    ends = np.cumsum(pieces) - 1
    assert (image[ends] >= SIZE).all()
    drawn = Transliterate(share, seed).image(SIZE)  # an exact share of the types, without replacement
    inside = np.delete(np.arange(len(ids)), ends)
    assert np.array_equal(image[inside], drawn[ids[inside]])


TYPES = 12
TAGS = (*CLASSES, "PUNCT", "NUM", "X", "")
tagged = st.lists(
    st.tuples(st.lists(st.integers(0, TYPES - 1), min_size=1, max_size=4), st.sampled_from(TAGS))
)


@some
@given(tagged, st.sampled_from(["function", "names", "content"]))
def test_types_are_counted_one_by_one(text, name):
    ids = np.array([i for word, _ in text for i in word], np.int64)
    pieces = np.array([len(word) for word, _ in text], np.int64)
    usage = Usage.of(ids, pieces, [tag for _, tag in text], TYPES)
    everywhere = Counter(i for word, _ in text for i in word)
    ends = Counter(word[-1] for word, _ in text)
    inside = Counter(i for word, tag in text for i in word if CLASSES.get(tag) == name)
    for i in range(TYPES):
        assert (usage.counts[i], usage.at_ends[i]) == (everywhere[i], ends[i])
        assert usage.of_class(name)[i] == (everywhere[i] > 0 and inside[i] >= NEARLY * everywhere[i])
