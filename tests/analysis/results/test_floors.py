"""Floors of several draws of the data."""

import pytest

from calque.analysis.records.record import Floor, Items
from calque.analysis.results.results import over_draws

ITEMS = Items.over([1, 0], [1, 1])


def floor(baseline: str, value: float, count: int = 2, items: Items | None = ITEMS) -> Floor:
    return Floor(baseline, baseline, "pos", "accuracy", value, count, "trans", "source", items=items)


def test_floors_of_several_draws_are_their_means_and_of_one_as_they_are() -> None:
    first, second = [floor("majority", 0.5), floor("unigram", 0.75)], [floor("unigram", 0.25), floor("majority", 0.1)]
    assert over_draws([first]) == first
    assert over_draws([first, second]) == [floor("majority", 0.3, 4, None), floor("unigram", 0.5, 4, None)]
    assert over_draws(iter([second, first]))[0].value == pytest.approx(0.5)
    assert over_draws([[], []]) == []
