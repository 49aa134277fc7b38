from itertools import chain

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from calque.analysis.papers.catalogue import PAPERS
from calque.analysis.papers.columns import specified_figures
from calque.experiments.report.folder import describe_records
from calque.experiments.report.report import summarise_records
from tests.experiments.committed import ROOT, read
from tests.experiments.test_records import STUDIES

TESTED = (ROOT.parents[1] / "constraints.txt").read_text().split()
pytestmark = pytest.mark.skipif(
    f"matplotlib=={mpl.__version__}" not in TESTED, reason="another Matplotlib draws other bytes"
)


@pytest.mark.parametrize("name", STUDIES)
def test_committed_figures_match_the_records(name, tmp_path):
    paper = STUDIES[name]
    results = read(name, paper)
    for plot in chain(PAPERS[paper].figures(results), specified_figures(paper, results)):
        if plot:
            assert f"Scale: {results.scale}." in plot.caption, plot.name
            plot.save(tmp_path)
            plt.close(plot.figure)
    expected = ROOT / name / "figures"
    drawn, files = ({file.name for file in folder.glob("*")} for folder in (tmp_path, expected))
    # Large files of numbers are not committed.
    assert files <= drawn and all(file.endswith(".jsonl") for file in drawn - files)
    for file in files:
        assert (tmp_path / file).read_bytes() == (expected / file).read_bytes(), file


@pytest.mark.parametrize("folder", [path.parent for path in ROOT.glob("*/sweep.md")], ids=lambda x: x.name)
def test_committed_sweeps_match_their_records(folder, tmp_path):
    summarise_records(folder, tmp_path / "report", describe_records(folder))
    for path in (*folder.glob("*.md"), *(folder / "figures").glob("*")):
        assert path.read_bytes() == (tmp_path / "report" / path.relative_to(folder)).read_bytes(), path.name
