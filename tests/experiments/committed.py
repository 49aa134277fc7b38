"""Committed records, and their numbers as prose has them."""

from functools import cache
from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.results.measured import BySeed
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate, estimate
from calque.experiments.report.report import joined
from calque.experiments.settings.catalogue import study
from calque.experiments.study import Study

ROOT = Path(__file__).parents[2] / "experiments" / "records"


@cache
def read(name: str, paper: str) -> Results:
    folder = ROOT / name
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    runs, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    return joined(paper, runs, records, floors)


def committed(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def natural(name: str, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of natural languages, which only names the files that it would read."""
    monkeypatch.setenv("CALQUE_DATA", "data")
    monkeypatch.setenv("CALQUE_ENCODER", "encoder")
    return study(name)


def told(found: Estimate) -> str:
    """A mean and half of its interval."""
    return f"{found.mean:.1f} ± {found.half:.1f}"


def seeds(values: BySeed) -> str:
    """Their mean and half of its interval, in percent."""
    return told(estimate([100 * measured.value for measured in values.values()]))
