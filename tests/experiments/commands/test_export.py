"""`calque export`: tables and records as other programs read them."""

import csv
import io
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.experiments.cli import app
from calque.experiments.report_records import joined_rows
from tests.experiments.committed import ROOT

STUDY = str(ROOT / "control")


def export(*words: str | Path) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["export", *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_csv_has_every_record_with_its_run() -> None:
    code, text, _ = export(STUDY, "--csv")
    rows, expected = list(csv.DictReader(io.StringIO(text))), joined_rows(Path(STUDY))
    assert code == 0 and len(rows) == len(expected)
    for row, record in zip(rows, expected, strict=True):
        assert (float(row["value"]), int(row["seed"])) == (record["value"], record["seed"])
        assert (row["objective"], row["joint"]) == (record["objective"], str(record.get("joint", False)))
        assert "links" not in record or int(row["links.found_sure"]) == record["links"].get("found_sure", 0)
        assert "items" not in record or row["items.hits"] == record["items"]["hits"]


def test_parquet_is_read_back(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(STUDY, "--parquet", "--out", tmp_path / "records.parquet")[0] == 0
    values = parquet.read_table(tmp_path / "records.parquet").column("value").to_pylist()
    assert values == [record["value"] for record in joined_rows(Path(STUDY))]


def test_parquet_without_pyarrow_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = export(STUDY, "--parquet", "--out", tmp_path / "records.parquet")
    assert (code, err.count("\n")) == (2, 1) and "pyarrow" in err and not [*tmp_path.iterdir()]


@pytest.mark.parametrize("path", sorted(ROOT.glob("control/*.md")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_table_is_exported(path: Path, tmp_path: Path) -> None:
    rows = sum(line.startswith("|") for line in path.read_text(encoding="utf-8").split("\n")) - 2
    code, latex, _ = export(path.parent, "--latex", "--table", path.stem)
    assert code == 0 and sum(line.endswith(r"\\") for line in latex.splitlines()) == rows + 1
    assert latex.isascii() or not set(latex) & set("±Δ−–ρ")
    assert export(path.parent, "--csv", "--table", path.stem, "--out", tmp_path / "table.csv") == (0, "", "")
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == rows + 1


@pytest.mark.parametrize(
    "words",
    [
        [STUDY],
        [STUDY, "--csv", "--latex"],
        [STUDY, "--latex"],
        [STUDY, "--latex", "--table", "table-33"],
        [STUDY, "--csv", "--table", "../align_mlm_pocket/table-3"],
        [STUDY, "--parquet"],
        [STUDY, "--csv", "--out", "."],
        ["no_such_study", "--csv"],
    ],
)
def test_what_cannot_be_exported_is_one_error(words: list[str]) -> None:
    code, out, err = export(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
