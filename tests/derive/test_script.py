"""A new script can be read back."""

from string import ascii_lowercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.script import Transliterate
from derive.types import OURS
from tests.derive.strategies import law

FIRST = len(OURS.ids)
"""The first id that is not special."""

sizes, seeds = st.integers(FIRST, 400), st.integers(0, 99)
overlaps = st.floats(0, 1)


@law
@given(sizes, overlaps, seeds)
def test_transliteration_decodes(size: int, overlap: float, seed: int) -> None:
    image = Transliterate(overlap, seed).image(size)
    back = np.full(2 * size, -1)
    back[image] = np.arange(size)
    assert np.array_equal(back[image], np.arange(size))  # injective: no two types share an image
    ids = np.random.default_rng(seed).integers(0, size, 50)
    assert np.array_equal(back[image[ids]], ids)


@law
@given(sizes, overlaps, seeds)
def test_the_overlap_is_exact_and_specials_stay(size: int, overlap: float, seed: int) -> None:
    image = Transliterate(overlap, seed).image(size)
    shared = image == np.arange(size)
    assert shared[:FIRST].all()
    assert shared[FIRST:].sum() == round(overlap * (size - FIRST))
    assert np.array_equal(image[~shared], np.flatnonzero(~shared) + size)


@law
@given(st.text())
def test_spelling_twice_is_the_identity(word: str) -> None:
    spell = Transliterate().spell
    assert spell(spell(word)) == word


def test_spelling_changes_latin_letters_alone() -> None:
    spelt = Transliterate().spell("Sara-2")
    assert spelt[-2:] == "-2"
    assert not spelt[:-2].isascii()
    assert spelt[0].isupper()
    assert spelt[1:4].islower()


def test_large_letters_become_the_large_ones_of_small_letters_images() -> None:
    spell = Transliterate().spell
    assert spell("az") == "\N{ARMENIAN SMALL LETTER AYB}\N{ARMENIAN SMALL LETTER PEH}"
    for letter in ascii_lowercase:
        assert spell(letter.upper()) == spell(letter).upper() != spell(letter)


def test_names_and_titles() -> None:
    assert Transliterate().name == "trans"
    assert Transliterate(0.25).name == "trans-25"
    assert Transliterate(0.5, seed=3).name == "trans-50"
    assert (Transliterate().title, Transliterate(0.125).title) == ("Trans", "Trans 12.5 % shared")


def test_defaults_are_those_that_records_were_made_with() -> None:
    """A seed is in no name: another default would change numbers and tell nobody."""
    assert Transliterate() == Transliterate(overlap=0.0, seed=0)


@pytest.mark.parametrize("overlap", [-0.5, 1.5, float("nan")])
def test_the_overlap_is_a_share(overlap: float) -> None:
    with pytest.raises(ValueError, match="overlap is a fraction"):
        Transliterate(overlap)
