"""Splits of seeds: as many as there are, each once, and groups that share no seed."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.results.null import Split, number_of_splits, splits

SEEDS = st.lists(st.integers(0, 99), min_size=1, max_size=6, unique=True)


def undirected(split: Split) -> frozenset[frozenset[tuple[int, int]]]:
    """A split without saying which group is the first."""
    return frozenset({frozenset(split), frozenset((second, first) for first, second in split)})


@given(SEEDS, st.integers(1, 3))
def test_every_split_comes_once_and_its_groups_share_no_seed(seeds: list[int], size: int) -> None:
    every = splits(seeds, size, 10_000)
    orders = permutations(seeds, 2 * size)
    by_force = {undirected(tuple(zip(some[:size], some[size:], strict=True))) for some in orders}
    assert {undirected(split) for split in every} == by_force
    assert len(every) == len(by_force) == number_of_splits(len(seeds), size)
    for split in every:
        flat = [seed for pair in split for seed in pair]
        assert len(flat) == len(set(flat)) == 2 * size
        assert min(flat) == split[0][0]


@given(st.permutations(range(8)), st.integers(1, 4), st.integers(1, 20))
def test_of_many_some_are_drawn_the_same_ones_every_time(seeds: list[int], size: int, most: int) -> None:
    drawn = splits(seeds, size, most)
    assert len(drawn) == len(set(drawn)) == min(most, number_of_splits(8, size))
    assert set(drawn) <= set(splits(seeds, size, 10**6))
    assert drawn == splits(sorted(seeds), size, most)


def test_numbers_by_hand() -> None:
    assert [number_of_splits(seeds, 1) for seeds in (0, 1, 2, 3)] == [0, 0, 1, 3]
    assert [number_of_splits(seeds, 2) for seeds in (3, 4, 5)] == [0, 6, 30]
    assert splits([7, 3], 1, 9) == [((3, 7),)]
    with pytest.raises(ValueError, match="groups of 0"):
        splits([1, 2], 0, 9)
    with pytest.raises(ValueError, match="groups of 1"):
        splits([1, 1], 1, 9)
