"""Every order of some items, and which of them have a feature."""

from itertools import permutations

import numpy as np
import pytest

from derive.grammar.features import ADJACENT, AFTER, AROUND, BEFORE, ORDERED, columns, containing, design, orders


@pytest.mark.parametrize("n", range(1, 6))
def test_orders_are_all_orders_once(n: int) -> None:
    assert orders(n) == list(permutations(range(n)))


@pytest.mark.parametrize("n", range(2, 6))
def test_a_column_says_of_each_order_what_its_name_says(n: int) -> None:
    has = design(n)
    assert has.shape == (len(orders(n)), len(columns(n)))
    for row, order in zip(has, orders(n), strict=True):
        line = [n, *order, n + 1]
        place = {slot: at for at, slot in enumerate(line)}
        head = place[n - 1]
        for value, (kind, i, j) in zip(row, columns(n), strict=True):
            expected = {
                ADJACENT: place[j] == place[i] + 1,
                ORDERED: place[i] < place[j],
                BEFORE: place[i] < place[j] < head,
                AROUND: place[i] < head < place[j],
                AFTER: head < place[i] < place[j],
            }
            assert value == expected[kind]


def test_every_pair_has_its_columns() -> None:
    named = columns(4)
    assert len(set(named)) == len(named) == (12 + 8) + 12 + 3 * 6


@pytest.mark.parametrize("slots", [(0, 1, 2), (4, 2, 0), (1, 3, 5), (4, 0, 1, 2, 3, 5)])
def test_orders_that_contain_some_slots_in_a_row(slots: tuple[int, ...]) -> None:
    lines = [(4, *order, 5) for order in permutations(range(4))]
    expected = [
        number
        for number, line in enumerate(lines)
        if any(line[at : at + len(slots)] == slots for at in range(len(line)))
    ]
    assert np.array_equal(containing(4, slots), expected)
