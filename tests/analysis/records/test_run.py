"""What runs say that they are made of."""

import pytest

from calque.analysis.records.run import Described, Start

BOTH = Described("trans.inv", "Trans + Inv", ({"kind": "Transliterate", "overlap": 0.5}, {"kind": "Invert", "p": 1.0}))


def test_a_part_is_found_by_its_kind() -> None:
    assert BOTH.part("Transliterate") == {"kind": "Transliterate", "overlap": 0.5}
    assert BOTH.part("Invert") == {"kind": "Invert", "p": 1.0}
    assert BOTH.part("Permute") is Described("source", "the source").part("Invert") is None


@pytest.mark.parametrize(
    ("fraction", "title"),
    [(0.0, "MLM"), (0.5, "MLM"), (0.25, "MLM (25 % of the steps)"), (1.0, "MLM (100 % of the steps)")],
)
def test_half_of_the_steps_or_none_goes_without_saying(fraction: float, title: str) -> None:
    assert Start(Described("MLM", "MLM"), fraction).title == title
