"""Reading records, from a report's folder or from the steps of a finished study."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from calque.analysis.records import json_rows
from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.results.results import Results, by_settings, over_draws
from calque.derive.errors import BadInput
from calque.experiments.run.places import SHARED
from calque.experiments.study import Study
from calque.experiments.study.measuring import MeasuredStep, read_measured
from calque.experiments.study.tasks import read_floors


class Recorded(NamedTuple):
    """A report's runs, records and floors."""

    runs: list[Run]
    records: list[Record]
    floors: list[Floor]

    @property
    def swept(self) -> tuple[str, ...]:
        """The settings that a sweep varies."""
        return tuple(self.runs[0].settings) if self.runs else ()


def read_records(folder: Path) -> Recorded:
    """Read the runs, records and floors (absent in old folders) from a report's folder. Raises BadInput if
    records are missing, contain impossible values, or refer to an unknown run."""
    if not (folder / RECORDS).is_file():
        raise BadInput(f"contains no {RECORDS}; expected a report's folder from `calque run`", folder)
    runs, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    names = {run.id for run in runs}
    for line, record in enumerate(records, start=1):
        if record.run not in names:
            raise BadInput(f"no run in {RUNS} is called {record.run!r}", folder / RECORDS, line)
        try:
            record.check()
        except ValueError as error:
            raise BadInput(str(error), folder / RECORDS, line) from None
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    return Recorded(runs, records, floors)


def results_of(folder: Path) -> list[Results]:
    """Read the results in a folder of records, one per combination of swept values."""
    runs, records, _ = read_records(folder)
    try:
        return [*by_settings(runs, records).values()] or [Results([], [])]
    except BadInput as error:
        raise BadInput(str(error), folder) from None


def joined_rows(folder: Path) -> list[dict[str, Any]]:
    """Return a report's records as dicts, each with its run's study, seed, objective, start, mixture and
    swept settings, and its model's folder as `path` ("" if it is not found)."""
    runs, records, _ = read_records(folder)
    by_run = {run.id: _run_fields(run, folder) for run in runs}
    absent = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0}
    return [{**by_run[record.run], **absent, **as_json(record)} for record in records]


def _run_fields(run: Run, folder: Path) -> dict[str, Any]:
    places = (above / SHARED / run.id.partition("@")[0] for above in folder.absolute().parents)
    return {
        "study": run.study,
        "seed": run.seed,
        "objective": run.objective.name if run.objective else "",
        "start": run.start.objective.name if run.start else "",
        "mixture": run.mixture.name if run.mixture else "",
        **{key: _number(value) for key, value in run.settings.items()},
        "path": next((str(place) for place in places if place.is_dir()), ""),
    }


def _number(text: str) -> str | int | float:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def measured(study: Study, root: Path) -> list[MeasuredStep]:
    """Read the measurements of each step of a finished study, in report order."""
    models = [*study.given_models(root), *study.models(root)]
    found = [read_measured(step) for model in models for step in study.measuring(root, model)]
    aligners = [read_measured(step) for step in study.data(root).aligners]
    encoders = [each for each in aligners if each.step.config.encoder]
    others = [each for each in aligners if not each.step.config.encoder]
    return [*others, *found, *encoders]


def recorded(study: Study, root: Path, found: Sequence[MeasuredStep]) -> Recorded:
    """Return the measured runs, without duplicates, all records, and the tasks' floors, averaged over
    seeds if each seed has its own data."""
    runs = dict[str, Run]()
    for run in (run for each in found for run in each.runs):
        other = runs.setdefault(run.id, run)
        runs[run.id] = replace(run, claims=tuple(sorted({*run.claims, *other.claims})))
    records = [record for each in found for record in each.records]
    floors = over_draws(
        [*chain(*map(read_floors, study.data(root, seed).floors))] for seed in study.data_seeds
    )
    return Recorded(list(runs.values()), records, floors)
