"""A report's folder: its description, records, tables and name."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.derive.errors import BadInput
from calque.derive.files import parse_json, write_json
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.places import SHARED, USES, check_report_name, name_mistakes
from calque.experiments.run.step import COMPUTE

About = Mapping[str, Any]
ABOUT = "about.json"
"""A report's description, and its only file with the date, commit and time: the others are byte-identical for
the same inputs."""
LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy", "scipy")
TYPES: dict[str, Any] = dict.fromkeys(("study", "report", "scale", "configuration"), str)
TYPES |= dict.fromkeys(("settings", "sweep", "files"), tuple[str, ...]) | {"seeds": tuple[int, ...]}
TYPES |= dict.fromkeys(("versions", COMPUTE), Mapping[str, Any])
REPORTS = "reports"  # the folder for a study's named reports
CHECKOUT = Path(__file__).resolve().parents[3]
COMMITTED = CHECKOUT / "experiments" / "records"


def provenance() -> About:
    """Return the date, commit, command, machine (as results differ between processors) and versions."""
    import torch

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU only"
    info = Path("/proc/cpuinfo")
    name = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE) if info.is_file() else None
    return {
        **_now(),
        "machine": f"{name[1] if name else platform.machine()}, {os.cpu_count()} cores, {device}",
        "versions": {library: version(library) for library in LIBRARIES},
    }


def _now() -> dict[str, str]:
    about = {"date": date.today().isoformat()}
    if shutil.which("git") and (CHECKOUT / ".git").exists():
        words = ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty", "--exclude=*"]
        about["commit"] = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return {**about, "command": shlex.join(["calque", *sys.argv[1:]])}


def describe_records(folder: Path, name: str = "") -> About:
    """Return the description of a report on records. Raises BadInput if one report cannot show them."""
    description = stored(folder)
    runs, records, _ = read_records(folder)
    if not records:
        raise BadInput("contains no records", folder / RECORDS)
    _check_alike(runs, folder / RUNS)
    if wrong := name_mistakes("the study", [runs[0].study], taken=()):
        raise BadInput(wrong, folder / RUNS)
    if "report" not in description or "scale" not in description:
        raise BadInput("lacks 'report' or 'scale', the kind of report and the study's scale", folder / ABOUT)
    return {
        **description,
        "study": runs[0].study,
        "seeds": sorted({run.seed for run in runs}),
        "name": name,
        "configuration": description.get("configuration", fingerprint(sorted(run.id for run in runs))),
        "rendered": _now(),
    }


CONFIGURATION = ("objective", "start", "mixture", "layers")  # equal in runs that a table averages


def _check_alike(runs: Sequence[Run], path: Path) -> None:
    """Raise BadInput for runs with different configurations or seeds, which no table should average."""
    if len({tuple(run.settings) for run in runs}) > 1:
        raise BadInput("the runs have different swept settings; expected the same in every run", path)
    groups = defaultdict[Any, list[Run]](list)
    for run in runs:
        parts = run.objective, run.start and run.start.objective, run.mixture, *run.languages
        groups[(*(part and part.name for part in parts), *run.settings.items())].append(run)
    expected: dict[str | None, tuple[set[int], str]] = {}  # by the value of `seeds` in a sweep
    for first, *others in groups.values():
        for run in others:
            if any(getattr(run, part) != getattr(first, part) for part in CONFIGURATION):
                raise BadInput(f"two configurations in one table: {first.id} and {run.id}", path)
        if not others and any(run.start and run.start.objective == first.objective for run in runs):
            continue  # all seeds may start from a single run
        seeds = {run.seed for run in (first, *others)}
        before, name = expected.setdefault(first.settings.get("seeds"), (seeds, first.id))
        if seeds != before:
            raise BadInput(f"{name} was run with seeds {before}, but {first.id} with {seeds}", path)


def stored(folder: Path) -> About:
    """Read the description in a report's folder; return an empty description if there is no file."""
    path = folder / ABOUT
    try:
        about = parse_json(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for key in json_rows.field_value(dict, about, "the description"):
            if key in TYPES:
                json_rows.field_value(TYPES[key], about[key], key)
    except ValueError as error:
        raise BadInput(f"not a report's description in JSON: {error}", path) from None
    return cast(About, about)


def keep_stored(folder: Path, about: About) -> About:
    """Return the stored description, with its command, if the configuration is unchanged; else `about`."""
    then = stored(folder) if (folder / RECORDS).is_file() else {}
    return {**then, "rendered": _now()} if then.get("configuration") == about["configuration"] else about


class Recorded(NamedTuple):
    """A report's runs, records and floors (scores of model-free baselines)."""

    runs: list[Run]
    records: list[Record]
    floors: list[Floor]

    @property
    def swept(self) -> tuple[str, ...]:
        """The settings that a sweep varies."""
        return tuple(self.runs[0].settings) if self.runs else ()


def read_records(folder: Path) -> Recorded:
    """Read the runs, records and floors (absent in old folders) from a report's folder. Raises BadInput for
    missing files, impossible values, repeated runs or floors, and unknown runs or languages in records."""
    if not (folder / RECORDS).is_file():
        raise BadInput(f"contains no {RECORDS}; expected a report's folder from `calque run`", folder)
    runs, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    tests = [(f.baseline, f.task, f.metric, f.language, f.learnt, *f.settings.values()) for f in floors]
    for file, keys in ((RUNS, [run.id for run in runs]), (FLOORS, tests)):
        for key, count in Counter[Any](keys).items():
            if count > 1:
                raise BadInput(f"{count} rows are about {key}; expected one", folder / file)
    languages = {run.id: {"", *(language.name for language in run.languages)} for run in runs}
    for line, record in enumerate(records, start=1):
        try:
            if record.run not in languages:
                raise ValueError(f"no run in {RUNS} is called {record.run!r}")
            if lacking := {record.language, record.first} - languages[record.run]:
                raise ValueError(f"its run has no language {lacking.pop()!r}")
            record.check()
        except ValueError as error:
            raise BadInput(str(error), folder / RECORDS, line) from None
    return Recorded(runs, records, floors)


def joined_rows(folder: Path) -> list[dict[str, Any]]:
    """Return a report's records as dicts with their run's study, seed, objective, start, mixture and swept
    settings, and with the model's folder as `path` ("" if it is not found)."""
    runs, records, _ = read_records(folder)
    by_run = {run.id: _run_fields(run, folder) for run in runs}
    absent = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0}
    return [{**by_run[record.run], **absent, **json_rows.as_json(record)} for record in records]


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


def named_report(runs: Path, about: About) -> Path:
    """Return a named report's folder. Raises BadInput if it contains anything else."""
    check_report_name(about["name"])
    folder = runs / about["study"] / REPORTS / about["name"]
    there = stored(folder)
    if "configuration" in there and there["configuration"] != about["configuration"]:
        reports = f"the report on {_titled(there)}, not on {_titled(about)}"
        raise BadInput(f"contains {reports}; choose another name", folder)
    if "configuration" not in there and folder.is_dir() and any(folder.iterdir()):
        raise BadInput("not a report; expected a new folder, or a report with the same configuration", folder)
    return folder


def _titled(about: About) -> str:
    options = [f"--set {setting}" for setting in about.get("settings", ())]
    options += [f"--sweep {setting}" for setting in about.get("sweep", ())]
    return f"{' '.join([about.get('study', 'records'), *options])} ({about['configuration']})"


def check_outside(out: Path, records: Path) -> None:
    """Raise BadInput if a report's folder would contain the records, or be among (committed) records."""
    place, source = out.resolve(), records.resolve()
    if place.is_relative_to(source) or source.is_relative_to(place) or place.is_relative_to(COMMITTED):
        raise BadInput("a report here would overwrite records; choose another folder", out)


def reserve(folder: Path, about: About, steps: Iterable[Path]) -> None:
    """Record which shared steps a report uses. For a named report, also write its description, before its
    runs are computed, so that no other report takes the name."""
    if about["name"] and not (folder / ABOUT).is_file():
        write_json(folder / ABOUT, about)
    write_json(folder / USES, [step.as_posix() for step in steps])
