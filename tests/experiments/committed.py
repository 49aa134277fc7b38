from functools import cache
from pathlib import Path

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.derive.files import parse_json
from calque.experiments.report.report import joined
from calque.experiments.settings.catalogue import named_study

ROOT = Path(__file__).parents[2] / "experiments" / "records"


@cache
def read(name, paper):
    folder = ROOT / name
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    runs, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    return joined(paper, runs, records, floors, parse_json(committed(folder / "about.json"))["scale"])


def committed(path):
    return path.read_text()


def natural(name, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", "data")
    monkeypatch.setenv("CALQUE_ENCODER", "encoder")
    return named_study(name)
