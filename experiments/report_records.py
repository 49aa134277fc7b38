"""The records of a report: their folder and contents. This module needs no torch."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from calque.analysis.records import json_rows
from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.results.results import Results, by_settings
from calque.derive.errors import BadInput
from calque.experiments.places import SHARED

REPORT = "report"


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def read_records(folder: Path) -> tuple[list[Run], list[Record], list[Floor]]:
    """What a report, or a committed record, was made from; older ones have no floors. Raises BadInput if records are
    missing, impossible for any measurement, or without a run."""
    if not (folder / RECORDS).is_file():
        raise BadInput(f"no {RECORDS}; expected the folder of a report, as `calque run` writes it", folder)
    runs, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    known = {run.id for run in runs}
    for line, record in enumerate(records, start=1):
        if record.run not in known:
            raise BadInput(f"no run in {RUNS} is called {record.run!r}", folder / RECORDS, line)
        try:
            record.check()
        except ValueError as error:
            raise BadInput(str(error), folder / RECORDS, line) from None
    return runs, records, json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []


def results_of(folder: Path) -> list[Results]:
    """The results in a folder of records, of each value of a sweep."""
    runs, records, _ = read_records(folder)
    try:
        return [*by_settings(runs, records).values()] or [Results([], [])]
    except BadInput as error:
        raise BadInput(str(error), folder) from None


def joined_rows(folder: Path) -> list[dict[str, Any]]:
    """The records of a report, a dict each, with its run's study, seed, objective, start, mixture and sweep settings,
    and the path of the model's folder, empty if that is elsewhere."""
    all_runs, records, _ = read_records(folder)
    rows, of_runs = [], {run.id: _of_run(run, folder) for run in all_runs}
    for record in records:
        measured = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0, **as_json(record)}
        rows.append(of_runs[record.run] | measured)
    return rows


def _of_run(run: Run, folder: Path) -> dict[str, Any]:
    name = run.id.partition("@")[0]
    places = (above / SHARED / name for above in folder.absolute().parents)
    return {
        "study": run.study,
        "seed": run.seed,
        "objective": run.objective.name if run.objective else "",
        "start": run.start.objective.name if run.start else "",
        "mixture": run.mixture.name if run.mixture else "",
        **{key: _number(value) for key, value in run.settings.items()},
        "path": next((str(place) for place in places if place.is_dir()), ""),
    }
