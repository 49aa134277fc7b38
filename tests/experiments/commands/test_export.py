import csv
import io
import re
from pathlib import Path

import pytest

from calque import __version__
from calque.analysis.report.table import MISSING, Table, escaped
from calque.experiments.report.export import REFERENCES, _key
from calque.experiments.report.records import joined_rows
from calque.pretrain.objectives import OBJECTIVES
from tests.experiments.committed import ROOT
from tests.experiments.conftest import calque, refused

STUDY = str(ROOT / "control")


def test_csv_contains_every_record_and_run():
    code, text, _ = calque("export", STUDY, "--csv")
    rows, expected = list(csv.DictReader(io.StringIO(text))), joined_rows(Path(STUDY))
    assert code == 0 and len(rows) == len(expected)
    for row, record in zip(rows, expected, strict=True):
        assert (float(row["value"]), int(row["seed"])) == (record["value"], record["seed"])
        assert (row["objective"], row["joint"]) == (record["objective"], str(record.get("joint", False)))
        assert "links" not in record or int(row["links.found_sure"]) == record["links"].get("found_sure", 0)
        assert "items" not in record or row["items.hits"] == record["items"]["hits"]


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("control/*.md")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_table_is_exported(path, tmp_path):
    rows = sum(line.startswith("|") for line in path.read_text().split("\n")) - 2
    code, latex, _ = calque("export", path.parent, "--latex", "--table", path.stem)
    assert code == 0 and sum(line.endswith(r"\\") for line in latex.splitlines()) == rows + 1
    assert latex.isascii() or not set(latex) & set("±Δ−–ρ")
    assert calque("export", path.parent, "--csv", "--table", path.stem, "--out", tmp_path / "table.csv") == (
        0,
        "",
        "",
    )
    with (tmp_path / "table.csv").open() as file:
        assert len(list(csv.reader(file))) == rows + 1


def test_macros_contain_every_cell():
    table = Table.of_markdown((ROOT / "everyday_small/table-3.md").read_text())
    words = "--macros", "--table", "table-3", "--prefix", "Easy 2"
    code, text, _ = calque("export", ROOT / "everyday_small", *words)
    found = dict(re.findall(r"\\newcommand\{\\([A-Za-z]+)\}\{(.*)\}", text))
    cells = [cell for row in table.rows for cell in row[3:] if cell != MISSING]
    assert code == 0 and [value for name, value in found.items() if not name.endswith("Mean")] == [
        *map(escaped, cells)
    ]
    assert found["EasyTwoTableThreeMLMTransInvPOSAccuracyZSMean"] == table.rows[0][4].split(" ")[0]


def test_bibtex_cites_calque_and_the_objectives_papers():
    code, text, _ = calque("export", ROOT / "everyday_small", "--bibtex")
    cited = (ROOT.parents[1] / "CITATION.cff").read_text()
    assert code == 0 and re.findall(r"@\w+\{(\w+)", text) == ["calque", "devlin2019", "tang2022"]
    assert all(
        re.search(rf"{key}: .*{word}", cited)
        for key, word in (("version", __version__), ("name", "The Calque"))
    )
    entries = REFERENCES.read_text()
    assert all(f"{{{_key(kind.paper)}," in entries for kind in OBJECTIVES if kind.paper)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([STUDY], "--bibtex"),
        ([STUDY, "--latex"], "table-8"),
        ([STUDY, "--csv", "--table", "../align_mlm_pocket/table-3"], "'../align_mlm_pocket/table-3'"),
        ([STUDY, "--bibtex", "--table", "table-3"], "--table"),
        ([STUDY, "--figure", "figure-2-delta"], "--out"),
        ([STUDY, "--figure", "nosuch", "--out", "x.pdf"], "figure-growth"),
        ([STUDY, "--figure", "figure-2-delta", "--width", "wide", "--out", "x.pdf"], "'wide'"),
        ([STUDY, "--figure", "figure-2-delta", "--labels", "MLM", "--out", "x.pdf"], "NAME=LABEL"),
        ([STUDY, "--csv", "--table", "table-3", "--out", "."], "folder"),
        (["no_such_study", "--csv"], "'no_such_study'"),
    ],
)
def test_impossible_exports_are_one_line(words, said):
    assert said in refused("export", *words)
