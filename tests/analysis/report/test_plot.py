"""A plot on disk: real files, the same bytes, and the numbers that it shows beside it."""

from pathlib import Path
from xml.etree import ElementTree

from calque.analysis.records.record import Record
from calque.analysis.report.drawing import styled
from calque.analysis.report.plot import Plot
from tests.analysis.saved import saved
from tests.analysis.toy import toy_published


def plot(title: str = "toy") -> Plot:
    record = Record("run-b", "ZS", "accuracy", 0.5, 9, task="pos")
    with styled(3, 2, title) as figure:
        figure.subplots().plot([0, 1], [0, 1])
    return Plot(figure, "figure-toy", title, "A line.", [record], toy_published()[:1], ["rising"])


def test_the_same_plot_gives_the_same_bytes_and_real_files(tmp_path: Path) -> None:
    first, again = (saved(plot(), tmp_path / name) for name in "ab")
    for kind in ("png", "svg", "records"):
        assert getattr(first, kind).read_bytes() == getattr(again, kind).read_bytes()
    assert first.png.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.svg).getroot().tag.endswith("svg")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "figure-toy.jsonl",
        "figure-toy.png",
        "figure-toy.svg",
    ]


def test_control_characters_leave_the_svg_well_formed(tmp_path: Path) -> None:
    """A superstrate's name or a study's scale may hold any character."""
    drawing = saved(plot("b\x1cel"), tmp_path)
    assert ElementTree.parse(drawing.svg).getroot().tag.endswith("svg")
