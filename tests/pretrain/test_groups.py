"""Neighbouring sentence pairs that fill rows, against a loop that puts one after the other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.corpus import Corpus
from calque.derive.errors import BadInput
from calque.derive.language import Bitext, Language
from calque.derive.languages import Languages
from calque.pretrain.bitext import Groups, fill, line_lengths
from tests.pretrain.made import SENTENCES

LENGTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40)


def one_by_one(sides: np.ndarray, room: int) -> list[list[int]]:
    """Groups of items, each as large as fits."""
    groups: list[list[int]] = []
    used = np.full(2, room)
    for number, item in enumerate(sides):
        if (used + item > room).any():
            groups.append([])
            used = np.zeros(2, np.int64)
        groups[-1].append(number)
        used = used + item
    return groups


def test_lines_are_as_long_as_what_is_read_of_them(languages: Languages) -> None:
    (bitext,) = languages.bitexts
    lengths = line_lengths(bitext, np.arange(len(bitext)))
    assert lengths.tolist() == [[len(side) for side in bitext.ids(pair)] for pair in range(len(lengths))]
    assert len(lengths) == SENTENCES
    assert np.array_equal(line_lengths(bitext, np.array([7, 3])), lengths[[7, 3]])


@given(LENGTHS, st.integers(9, 30))
def test_groups_are_as_large_as_fits(lengths: list[tuple[int, int]], room: int) -> None:
    sides = np.array(lengths, np.int64).reshape(-1, 2)
    bounds = fill(sides, room).tolist()
    assert [list(range(*pair)) for pair in pairwise(bounds)] == one_by_one(sides, room)
    assert bounds[0] == 0
    one_side = fill(sides[:, :1], room).tolist()
    assert one_side == fill(sides[:, [0, 0]], room).tolist()


def bitext_of(number: int, sides: np.ndarray) -> Bitext:
    """A bitext whose sentences have these lengths, (N, 2), and no words."""
    none = np.empty(0, np.int64)
    corpora = [Corpus(none, np.cumsum([0, *own]), none, none, none, none) for own in sides.T]
    first, second = (Language(f"{number}-{side}", side, corpus, none) for side, corpus in enumerate(corpora))
    return Bitext(first, second, np.repeat(np.arange(len(sides))[:, None], 2, axis=1), gold=False)


@given(st.lists(LENGTHS, min_size=1, max_size=4), st.integers(5, 30))
def test_groups_of_several_bitexts_are_numbered_one_after_the_other(
    bitexts: list[list[tuple[int, int]]], room: int
) -> None:
    """An id marks the end of each side; pairs that do not fit by themselves are left out."""
    sides = [np.array(lengths, np.int64).reshape(-1, 2) for lengths in bitexts]
    fitting = [np.flatnonzero((own < room).all(axis=1)) for own in sides]
    expected = [
        (number, fits[group].tolist())
        for number, (own, fits) in enumerate(zip(sides, fitting, strict=True))
        for group in one_by_one(own[fits] + 1, room)
    ]
    made = [bitext_of(number, own) for number, own in enumerate(sides)]
    if not expected:
        with pytest.raises(BadInput, match=f"none of {sum(map(len, sides))} parallel sentences fits into {room} ids"):
            Groups(made, 1.0, 0, room, sides=2)
        return
    groups = Groups(made, 1.0, 0, room, sides=2)
    assert [(of, own.tolist()) for of, own in map(groups.__getitem__, range(len(groups)))] == expected
    assert groups.left_out == sum(map(len, sides)) - sum(map(len, fitting))
    assert list(groups.parts.values()) == [sum(of == number for of, _ in expected) for number in range(len(made))]
