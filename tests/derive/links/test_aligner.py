"""What got no links, counted."""

from derive.links.aligner import LeftOut


def test_reasons_are_counted_and_the_first_lines_named() -> None:
    left_out = LeftOut()
    for line in range(1, 9):
        left_out.add("pairs", line)
    left_out.add("words", 3, 20)
    left_out.add("words", 3, 2)
    assert left_out.described() == ["8 pairs (line 1, 2, 3, 4, 5 …)", "22 words (line 3)"]
    assert left_out.counts == {"pairs": 8, "words": 22}
