from xml.etree import ElementTree

from calque.analysis.records.record import Record
from calque.analysis.report.drawing import styled
from calque.analysis.report.plot import Plot
from tests.analysis.toy import toy_published


def test_plots_are_reproducible(tmp_path):
    record = Record("run-b", "ZS", "accuracy", 0.5, 9, task="pos")
    for name in "ab":
        with styled(3, 2, "toy") as figure:
            figure.subplots().plot([0, 1], [0, 1])
        Plot(figure, "figure-toy", "toy", "A line.", [record], toy_published()[:1]).save(tmp_path / name)
    first, again = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert first == again and sorted(first) == [f"figure-toy.{kind}" for kind in ("jsonl", "png", "svg")]
    assert first["figure-toy.png"].startswith(b"\x89PNG")
    assert ElementTree.fromstring(first["figure-toy.svg"]).tag.endswith("svg")
