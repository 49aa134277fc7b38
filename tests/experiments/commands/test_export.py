import csv

import pytest

from tests.experiments.committed import ROOT
from tests.experiments.conftest import calque, refused

STUDY = str(ROOT / "control")


@pytest.mark.parametrize("path", sorted(ROOT.glob("control/*.md")), ids=lambda path: path.stem)
def test_every_table_is_exported(path, tmp_path):
    rows = sum(line.startswith("|") for line in path.read_text().split("\n")) - 2
    code, latex, _ = calque("export", path.parent, path.stem)
    assert code == 0 and sum(line.endswith(r"\\") for line in latex.splitlines()) == rows + 1
    assert latex.isascii() or not set(latex) & set("±Δ−–ρ")
    out = tmp_path / "table.csv"
    assert calque("export", path.parent, path.stem, "--csv", "--out", out) == (0, "", "")
    with out.open() as file:
        assert len(list(csv.reader(file))) == rows + 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([STUDY, "table-4"], "table-8"),
        ([STUDY, "../align_mlm_pocket/table-3"], "'../align_mlm_pocket/table-3'"),
        ([STUDY, "table-3", "--out", "."], "folder"),
        (["no_such_study", "table-3"], "'no_such_study'"),
    ],
)
def test_impossible_exports_are_one_line(words, said):
    assert said in refused("export", *words)
