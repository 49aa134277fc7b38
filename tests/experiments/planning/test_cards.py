"""Cards: what sheets say, and names that are none."""

import pytest

from derive.errors import BadInput
from experiments.planning.cards import CARDS, card


def test_the_rate_is_the_dense_one_which_is_half_of_that_with_sparsity() -> None:
    with_sparsity = {"A100": 624e12, "H100": 1_979e12, "H100-PCIe": 1_513e12, "H200": 1_979e12, "L40S": 733e12}
    for kind, rate in with_sparsity.items():
        assert card(kind).peak == pytest.approx(rate / 2, rel=0.02)


def test_upper_and_lower_case_are_alike() -> None:
    assert all(card(each.kind.lower()) is each for each in CARDS)


def test_a_kind_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match=r"no kind of card is called 'H1000'; did you mean H100\? there are A100, H100,"):
        card("H1000")
