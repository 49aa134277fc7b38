"""Nothing that a figure tells apart looks the same."""

from __future__ import annotations

import pytest

from analysis.report.style import FILLS, LOOKS, fills, styled


def test_no_two_looks_or_transforms_look_the_same() -> None:
    assert len({colour for colour, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == len(LOOKS)
    assert len(set(fills([f"t{i}" for i in range(len(FILLS))]).values())) == len(FILLS)


def test_more_transforms_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="7 transforms"):
        fills([f"t{i}" for i in range(7)])


def test_a_figure_has_its_size_and_bears_its_title() -> None:
    with styled(6.5, 4, "Bars") as figure:
        assert tuple(figure.get_size_inches()) == (6.5, 4)
    assert figure.get_suptitle() == "Bars"
