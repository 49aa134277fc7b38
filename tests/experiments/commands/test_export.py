"""`calque export`: tables and records as other programs read them."""

import csv
import io
import json
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


@pytest.fixture
def curves(tmp_path: Path) -> tuple[str | Path, ...]:
    """The words that name a study with the training curves of one model."""
    rows = [{"step": 1, "loss": {"mlm": 5.0}}, {"step": 2, "loss": {"mlm": 4.0}}, {"step": 2, "probe": {"all": 0.5}}]
    model = tmp_path / "runs/own/inv/MLM"
    model.mkdir(parents=True)
    (model / "metrics.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "own", "--runs", tmp_path / "runs"


def test_curves_are_read_back_from_events(curves: tuple[str | Path, ...], tmp_path: Path) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    assert export(*curves, "--tensorboard", "--out", tmp_path / "events") == (0, "", "")
    found = events.EventAccumulator(str(tmp_path / "events/inv/MLM")).Reload()
    read = {tag: [(one.step, one.value) for one in found.Scalars(tag)] for tag in found.Tags()["scalars"]}
    assert read == {"loss/mlm": [(1, 5.0), (2, 4.0)], "probe/all": [(2, 0.5)]}
    assert export(*curves, "--tensorboard", "--out", tmp_path / "events")[0] == 2, "the folder has files"
    for wrong in ("[]", "{", '{"loss": {"mlm": 5.0}}'):
        (tmp_path / "runs/own/inv/MLM/metrics.jsonl").write_text(f"{wrong}\n")
        code, _, err = export(*curves, "--tensorboard", "--out", tmp_path / "more")
        assert (code, err.count("\n")) == (2, 1) and not (tmp_path / "more").exists()


def test_curves_are_offline_runs_of_weights_and_biases(curves: tuple[str | Path, ...], tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    assert export(*curves, "--wandb", "--out", tmp_path / "runs-of-wandb")[0] == 0
    (run,) = tmp_path.glob("runs-of-wandb/**/*.wandb")
    assert all(name in run.read_bytes() for name in (b"inv/MLM", b"loss/mlm", b"probe/all"))


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
        [STUDY, "--tensorboard", "--out", "events"],
        [STUDY, "--wandb"],
        [STUDY, "--csv", "--out", "."],
        ["no_such_study", "--csv"],
    ],
)
def test_what_cannot_be_exported_is_one_error(words: list[str]) -> None:
    code, out, err = export(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
