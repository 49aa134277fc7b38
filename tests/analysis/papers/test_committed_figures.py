"""Committed pictures are those that their records make now: one of each kind of figure, to the byte."""

from itertools import chain
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.papers.columns import specified_figures
from calque.derive.strict_json import loads
from tests.experiments.committed import ROOT, committed, read
from tests.experiments.test_records import STUDIES

LARGE = ("objectives_pocket", "objectives_seconds", "classroom", "growth")
"""Studies whose figures take many times as long as those of the others."""
TESTED = dict(
    line.split("==")
    for line in (ROOT.parents[1] / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line.startswith("matplotlib==")
)


@pytest.mark.skipif(mpl.__version__ != TESTED["matplotlib"], reason="another Matplotlib draws other bytes")
@pytest.mark.parametrize("name", [name for name in STUDIES if name not in LARGE])
def test_committed_figures_are_those_of_the_records(name: str, tmp_path: Path) -> None:
    paper, about = STUDIES[name], loads(committed(ROOT / name / "about.json"))
    results, size = read(name, paper), about["scale"]
    for plot in chain(PAPERS[paper].figures(results, size), specified_figures(paper, results, size)):
        if plot:
            plot.save(tmp_path)
            plt.close(plot.figure)
    expected = ROOT / name / "figures"
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in expected.iterdir()}
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (expected / file.name).read_bytes(), file.name
