"""A new script can be read back."""

from string import ascii_letters, ascii_lowercase
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.files import plain
from derive.script import SCRIPTS, Transliterate
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
@given(st.text(), st.integers(1, len(SCRIPTS)))
def test_spelling_twice_is_the_identity(word: str, script: int) -> None:
    spell = Transliterate(script=script).spell
    assert spell(spell(word)) == word


def test_clones_have_names_and_letters_of_their_own() -> None:
    clones = [Transliterate(script=script) for script in range(1, len(SCRIPTS) + 1)]
    assert [clone.name for clone in clones[:3]] == ["trans", "trans2", "trans3"]
    assert Transliterate(0.25, script=2).name == "trans2-25"
    assert len({clone.title for clone in clones}) == len(clones)
    letters = [letter for clone in clones for letter in map(clone.spell, ascii_letters)]
    assert len({*letters, *ascii_letters}) == 52 * (1 + len(clones))
    assert all(letter.isalpha() and normalize("NFD", letter) == letter for letter in letters)
    assert all(np.array_equal(clone.image(50), clones[0].image(50)) for clone in clones)
    assert plain(clones[0]) == {"kind": "Transliterate", "overlap": 0.0, "seed": 0}  # as before there were several
    assert plain(clones[1])["script"] == 2
    for wrong in (0, len(SCRIPTS) + 1):
        with pytest.raises(ValueError, match="script is from 1 to"):
            Transliterate(script=wrong)


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
