"""Neighbouring sentence pairs that fill rows, against a loop that puts one after the other."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
    one_side = fill(sides[:, 0], room).tolist()
    assert one_side == fill(sides[:, [0, 0]], room).tolist()


@given(st.lists(LENGTHS, min_size=1, max_size=4), st.integers(9, 30))
def test_groups_of_several_bitexts_are_numbered_one_after_the_other(
    bitexts: list[list[tuple[int, int]]], room: int
) -> None:
    sides = [np.array(lengths, np.int64).reshape(-1, 2) for lengths in bitexts]
    pairs = [100 * number + np.arange(len(own)) for number, own in enumerate(sides)]
    groups = Groups.of(pairs, sides, room)
    expected = [
        (number, pairs[number][group].tolist()) for number, own in enumerate(sides) for group in one_by_one(own, room)
    ]
    assert [(of, own.tolist()) for of, own in map(groups.__getitem__, range(len(groups)))] == expected
