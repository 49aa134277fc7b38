"""Comparison of two reports: their verdicts, their numbers over seeds, and their records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Record
from calque.analysis.statistics import CONFIDENCE, holm, welch
from calque.analysis.tasks.catalogue import PRIMARY
from calque.analysis.verdicts import NO_RECORDS
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report.folder import Recorded, read_records, results_in, stored
from calque.experiments.report.report import claims_of, joined

MEASURED = ("value", "count", "null", "items", "links")  # the other fields identify a record
TESTED = ("SUP", "ZS", DELTA, ALIGNMENT, AER, RETRIEVAL)  # measures whose numbers are compared over seeds
Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two reports. `claims` maps each claim to both verdicts. `tested` counts the
    numbers that vary over seeds and were compared by a significance test; `beyond` lists those that differ by
    more than seed noise. `different` names each record that differs or has no counterpart."""

    claims: dict[str, tuple[str, str]]
    tested: int
    beyond: list[str]
    equal: int
    different: list[str]

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        return {claim: verdicts for claim, verdicts in self.claims.items() if len(set(verdicts)) > 1}

    @property
    def verdict(self) -> str:
        """A sentence that counts the conclusions that differ and the numbers that differ beyond noise."""
        beyond = f"{len(self.beyond):,} of {self.tested:,} numbers tested over seeds differ beyond seed noise"
        conclusions = f"{len(self.changed)} of {len(self.claims)} conclusions differ"
        return f"{conclusions}; {beyond if self.different else 'all numbers are equal'}"


def compare_reports(first: Path, second: Path) -> Comparison:
    """Compare two folders of records, whose runs are matched by configuration. Main scores, AER, alignment
    and retrieval that vary over seeds are compared by Welch's t-test with Holm's correction. Raises BadInput
    if the folders share no record."""
    reports = [(folder, read_records(folder)) for folder in (first, second)]
    ours, theirs = (_by_key(report) for _, report in reports)
    if not ours.keys() & theirs.keys():
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = []
    for key in ours.keys() | theirs.keys():
        if key not in ours or key not in theirs:
            different.append(f"{_title(key)}: only in {first if key in ours else second}")
        elif ours[key] != theirs[key]:
            different.append(f"{_title(key)}: {_difference(ours[key], theirs[key])}")
    our_numbers, their_numbers = (_numbers(folder, report) for folder, report in reports)
    p_values = {k: welch(our_numbers[k], their_numbers[k]) for k in our_numbers if k in their_numbers}
    tested = {key: p for key, p in p_values.items() if p is not None}  # None: the values do not vary
    corrected = zip(tested, holm([*tested.values()]), strict=True)
    return Comparison(
        claims=_verdicts(reports),
        tested=len(tested),
        beyond=[_title(key) for key, p in corrected if p < 1 - CONFIDENCE],
        equal=len(ours.keys() | theirs.keys()) - len(different),
        different=sorted(different),
    )


def _by_key(report: Recorded) -> dict[Key, tuple[Any, ...]]:
    configurations, measured_fields = _configurations(report), attrgetter(*MEASURED)
    return {_key(record, configurations): measured_fields(record) for record in report.records}


def _configurations(report: Recorded, **changes: Any) -> dict[str, tuple[str, str]]:
    """Return each run's title and the fingerprint of its configuration, to which `changes` are made."""
    configurations = {}
    for run in report.runs:
        parts = [part.title for part in (run.objective, *run.languages[1:]) if part]
        title = ", ".join(parts + ([] if changes else [f"seed {run.seed}"]))
        configurations[run.id] = title, fingerprint(as_json(replace(run, id="", claims=(), **changes)))
    return configurations


def _key(record: Record, configurations: Mapping[str, tuple[str, str]]) -> Key:
    title, configuration = configurations[record.run]
    fields = as_json(replace(record, run=title)) | {"configuration": configuration}
    return tuple((name, str(value)) for name, value in fields.items() if name not in MEASURED)


def _title(key: Key) -> str:
    parts = (value if name == "run" else f"{name} {value}" for name, value in key if name != "configuration")
    return ", ".join(parts)


def _difference(ours: Sequence[Any], theirs: Sequence[Any]) -> str:
    """Return both values or, if they are equal, the value and the names of the fields that differ."""
    if ours[0] != theirs[0]:
        return f"{ours[0]} and {theirs[0]}"
    fields = [name for name, a, b in zip(MEASURED, ours, theirs, strict=True) if a != b]
    return f"{ours[0]} in both, but different {' and '.join(fields)}"


def _numbers(folder: Path, report: Recorded) -> dict[Key, list[float]]:
    """Return the values over seeds of each tested number: of tasks, only the main score."""
    configurations, numbers = _configurations(report, seed=0), {}
    for results in results_in(folder, report.runs, report.records):
        for record, values in results.columns():
            if record.measure in TESTED and record.metric == PRIMARY.get(record.task, record.metric):
                numbers[_key(record, configurations)] = [score.value for score in values.values()]
    return numbers


def _verdicts(reports: Sequence[tuple[Path, Recorded]]) -> dict[str, tuple[str, str]]:
    """Return both verdicts on each claim; none for sweeps, whose claims are not tested."""
    kind = next(filter(None, (stored(folder).get("report") for folder, _ in reports)), None)
    if not kind or any(report.swept for _, report in reports):
        return {}
    tables = [claims_of(joined(kind, *report), kind) for _, report in reports]
    ours, theirs = ({row[0]: row[1] for row in table.rows} if table else {} for table in tables)
    return {text: (ours.get(text, NO_RECORDS), theirs.get(text, NO_RECORDS)) for text in ours | theirs}
