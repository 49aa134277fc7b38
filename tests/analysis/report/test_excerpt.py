"""A preview is cut between examples, never within one."""

from analysis.report.page import excerpt

PREVIEW = "Sentences\n=========\n\n" + "".join(f"{n}.\nsource a b\ntrans  c d\n\n" for n in range(1, 6))


def test_whole_examples_and_how_many_are_left() -> None:
    shown = excerpt(PREVIEW, lines=12)
    assert shown == PREVIEW[: PREVIEW.index("3.")] + "3 more in the preview\n"


def test_an_example_that_just_fits_is_there() -> None:
    two = PREVIEW[: PREVIEW.index("3.")].count("\n")
    assert "3 more" in excerpt(PREVIEW, lines=two) and "4 more" in excerpt(PREVIEW, lines=two - 1)


def test_one_example_at_least() -> None:
    assert "1.\nsource a b\ntrans  c d\n" in excerpt(PREVIEW, lines=1)
    assert "4 more" in excerpt(PREVIEW, lines=1)


def test_what_fits_is_there_whole() -> None:
    assert excerpt(PREVIEW, lines=100) == PREVIEW.rstrip() + "\n"
    assert excerpt("", lines=3) == "\n"
