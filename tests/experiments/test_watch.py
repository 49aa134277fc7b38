"""`calque watch`: what the files of training runs say, while they are written and afterwards."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from calque.derive.errors import BadInput
from calque.experiments.cli import app
from calque.experiments.watch import SILENT, trainings
from calque.pretrain.checkpoint import METRICS
from calque.pretrain.run import read_metrics
from tests.experiments.conftest import Done

ROW: dict[str, Any] = {"step": 30, "of": 120, "tokens": 900, "loss": {"mlm": 2.5}, "tokens/s": 60.0, "mfu": 0.25}


def run(home: Path, name: str, *rows: dict[str, Any], rest: str = "") -> Path:
    folder = home / name
    folder.mkdir(parents=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / METRICS).write_text(text + rest, encoding="utf-8")
    return folder / METRICS


def test_finished_runs_have_the_step_and_loss_of_their_last_row(done: Done) -> None:
    found = {training.name: training for training in trainings(done.home)}
    for model in done.models():  # other tests of the study may have added more
        training = found[str(model.folder.relative_to(done.home))]
        last = [row for row in read_metrics(model.folder / METRICS) if "loss" in row][-1]
        assert training.finished
        assert last["step"] == last["of"] == training.row["step"]
        assert last["tokens"] == last["step"] * done.study.train.batch * done.study.model.length
        assert training.row["loss"] == last["loss"]


def test_an_unfinished_run_is_first_and_its_incomplete_row_is_not_read(done: Done, tmp_path: Path) -> None:
    shutil.copytree(done.home, tmp_path / "tiny")
    path = run(tmp_path / "tiny", "z/MLM/seed-0-0", ROW, {"step": 30, "probe": {"x": 1.0}}, rest='{"step": 40, "lo')
    first, *others = trainings(tmp_path / "tiny")
    assert (first.name, first.row, first.finished) == ("z/MLM/seed-0-0", ROW, False)
    assert all(training.finished for training in others)
    now = path.stat().st_mtime
    assert first.cells(now) == ("z/MLM/seed-0-0", "30/120", "mlm 2.50", "60", "25%", "45 s")
    assert "4 min" in first.cells(now + 2 * SILENT)[-1]


def test_a_run_without_a_row_yet_is_shown(tmp_path: Path) -> None:
    run(tmp_path, "a")
    assert len(trainings(tmp_path)[0].cells(time.time())) == 6


def test_names_are_neither_markup_nor_commands_of_a_terminal(tmp_path: Path) -> None:
    for name in ("[/]", "[red]x", "\x1b[2Jy"):
        run(tmp_path, f"{name}-0", ROW | {"loss": {"[b]": 2.5}})
    ran = CliRunner().invoke(app, ["watch", str(tmp_path), "--once"])
    assert ran.exit_code == 0 and "\x1b" not in ran.output
    assert all(said in ran.output for said in ("[/]", "[red]x", r"\x1b[2Jy", "[b] 2.50"))


def test_the_command_prints_one_table_without_a_terminal(done: Done) -> None:
    for words in ([done.home.name, "--runs", str(done.home.parent)], [str(done.home)]):
        ran = CliRunner().invoke(app, ["watch", *words])
        assert ran.exit_code == 0
        assert ran.stdout.count("finished") >= len(trainings(done.home))


def test_damaged_rows_and_folders_without_runs_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=METRICS):
        trainings(run(tmp_path, "a", rest="{\n").parents[1])
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        ran = CliRunner().invoke(app, ["watch", str(tmp_path / name)])
        assert ran.exit_code == 2
        assert str(tmp_path / name) in "".join(ran.stderr.splitlines())
