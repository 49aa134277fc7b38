import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS
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


@law
@given(st.text())
def test_spelling_twice_is_the_identity(word):
    spell = Transliterate().spell
    assert spell(spell(word)) == word
