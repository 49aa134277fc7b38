"""Every objective has a look of its own, and the same one in every figure."""

from __future__ import annotations

import pytest

from analysis.papers.looks import OTHERS, OWN, distinct, looks
from analysis.report import style


def test_no_two_objectives_look_the_same() -> None:
    many = ["XLM-10", *OWN, "ALIGN-MLM-100"]
    found = looks(many)
    assert list(found) == many
    assert len({colour for colour, _ in found.values()}) == len({marker for _, marker in found.values()}) == len(many)
    assert {name: found[name] for name in OWN} == OWN and set(found.values()) <= set(style.LOOKS)


def test_more_than_can_be_told_apart_are_refused() -> None:
    many = [f"other-{i}" for i in range(len(OTHERS) + 1)]
    assert distinct([*OWN, *many[1:]]) and not distinct(many)
    with pytest.raises(ValueError, match=r"7 objectives besides MLM, .*; a figure can tell 6 apart"):
        looks(many)
