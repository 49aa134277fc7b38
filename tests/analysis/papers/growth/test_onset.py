"""When quantities leave their nulls, in which order, and whether seeds agree."""

import pytest

from calque.analysis.papers.growth.curves import (
    NEVER,
    QUANTITIES,
    Onsets,
    agreement,
    in_order,
    onset,
    onsets,
    order_in_words,
    reversed_pairs,
)
from calque.analysis.records.record import Null, Record
from tests.analysis.papers.growth.grown import ORDER, STEPS, grown

BY_NAME = {quantity.name: quantity for quantity in QUANTITIES}


def curve(*values: float) -> dict[int, Record]:
    return {
        step: Record("run", "loss", "nats", value, 10, step=step, null=Null(0.0, -1.0, 1.0, 40))
        for step, value in zip(STEPS, values, strict=False)
    }


@pytest.mark.parametrize(
    ("values", "side", "expected"),
    [
        ((0, 2, 0, 2, 2, 2), 1, 32),  # one probe alone may be chance
        ((2, 2, 0, 0), 1, 0),
        ((0, 0, 0, 2), 1, NEVER),  # and nobody knows what would have followed the last
        ((0, -2, -2), 1, NEVER),
        ((0, -2, -2), -1, 8),
        ((1, 1, 1), 1, NEVER),
    ],
)
def test_an_onset_is_the_first_of_two_in_a_row(values: tuple[float, ...], side: int, expected: float) -> None:
    assert onset(curve(*values), side) == expected


def test_quantities_are_in_the_order_in_which_they_were_made_to_leave() -> None:
    results = grown()
    found = onsets(results, "MLM", "trans")
    assert tuple(quantity.name for quantity in found) == ORDER
    assert [its.ends[1] for its in found.values()] == [*STEPS[:-1], NEVER]
    assert reversed_pairs(found) == []
    assert order_in_words(found).startswith("gradients (0), loss (8), CKA (16), sentences (32)")
    assert order_in_words(found).endswith("; never: held-out types")
    assert agreement(found, 3) == "yes"
    assert agreement(found, 1) == "one seed"


def test_a_seed_of_another_order_is_told() -> None:
    results = grown(later={("gradients", 1): 3, ("sentences", 2): 1})
    found = onsets(results, "MLM", "trans")
    assert found[BY_NAME["gradients"]].steps == {0: 0, 1: 32, 2: 0}
    assert str(found[BY_NAME["gradients"]]) == "0 [0, 32]"
    assert str(found[BY_NAME["sentences"]]) == "32 [32, 64]"
    swapped = [(a.name, b.name) for a, b in reversed_pairs(found)]
    assert swapped == [("gradients", "loss"), ("gradients", "CKA")]  # sentences tie with both their neighbours
    assert agreement(found, 3) == "no: 2 of 21 pairs change places"


def test_what_never_leaves_in_some_seeds() -> None:
    some = Onsets({0: 64.0, 1: NEVER, 2: 16.0})
    assert (some.ends, some.left) == ((16, 64, NEVER), 2)
    assert str(some) == "never in 1 of 3, else from 16"
    none = Onsets({0: NEVER, 1: NEVER})
    assert str(none) == "never"
    assert (
        agreement({BY_NAME["loss"]: some, BY_NAME["sentences"]: none}, 3)
        == f"yes; in some seeds only: {BY_NAME['loss'].name}"
    )
    groups = in_order(
        {BY_NAME["loss"]: some, BY_NAME["gradients"]: Onsets({0: 64.0, 1: 64.0, 2: 64.0}), BY_NAME["sentences"]: none}
    )
    assert groups == [(64, [BY_NAME["loss"], BY_NAME["gradients"]]), (NEVER, [BY_NAME["sentences"]])]
