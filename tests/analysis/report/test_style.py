"""Nothing that a figure tells apart looks the same."""

from __future__ import annotations

import pytest

from analysis.report.style import FILLS, LOOKS, OTHERS, fills, looks, styled


def test_no_two_objectives_or_transforms_look_the_same() -> None:
    many = [*LOOKS, "XLM-10", "ALIGN-MLM-100"]
    found = looks(many)
    assert list(found) == many
    assert len({colour for colour, _ in found.values()}) == len({marker for _, marker in found.values()}) == len(many)
    assert len(set(fills([f"t{i}" for i in range(len(FILLS))]).values())) == len(FILLS)


def test_more_than_can_be_told_apart_is_refused() -> None:
    with pytest.raises(ValueError, match="can tell 6 apart"):
        looks([f"other-{i}" for i in range(len(OTHERS) + 1)])
    with pytest.raises(ValueError, match="7 transforms"):
        fills([f"t{i}" for i in range(7)])


def test_a_figure_has_its_size_and_bears_its_title() -> None:
    with styled(6.5, 4, "Bars") as figure:
        assert tuple(figure.get_size_inches()) == (6.5, 4)
    assert figure.get_suptitle() == "Bars"
