"""Comparison of two reports: their verdicts, the numbers that claims use, and their records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import Record, Run
from calque.analysis.report.claims import in_claims
from calque.analysis.statistics import CONFIDENCE, NO_RECORDS, holm, welch
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report.folder import Recorded, read_records, results_in, stored
from calque.experiments.report.report import claims_of, joined

# A record's measured fields; the other fields identify it.
MEASURED = ("value", "count", "null", "items", "links")
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
        """A sentence that says whether the conclusions agree and whether numbers differ beyond noise."""
        if not self.different:
            numbers = "all numbers are equal"
        elif self.beyond:
            numbers = f"{len(self.beyond):,} of {self.tested:,} numbers differ beyond seed noise"
        else:
            numbers = "numbers differ within seed noise" if self.tested else "numbers differ (untested)"
        if self.changed:
            return f"{len(self.changed)} of {len(self.claims)} conclusions differ; {numbers}"
        return f"{'same conclusions' if self.claims else 'no claims to compare'}; {numbers}"


def compare_reports(first: Path, second: Path) -> Comparison:
    """Compare two folders of records, whose runs are matched by configuration. Numbers that a claim can use
    and that vary over seeds are compared by Welch's t-test with Holm's correction. Raises BadInput if the
    folders share no record."""
    first_report, second_report = read_records(first), read_records(second)
    first_records, second_records = _by_key(first_report), _by_key(second_report)
    shared = first_records.keys() & second_records.keys()
    if not shared:
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = [
        f"{_title(key)}: only in {first if key in first_records else second}"
        for key in first_records.keys() ^ second_records.keys()
    ]
    different += [
        f"{_title(key)}: {_difference(first_records[key], second_records[key])}"
        for key in shared
        if first_records[key] != second_records[key]
    ]
    first_numbers, second_numbers = _numbers(first, first_report), _numbers(second, second_report)
    p_values = {
        key: welch(values, second_numbers[key])
        for key, values in first_numbers.items()
        if key in second_numbers
    }
    tested = {key: p for key, p in p_values.items() if p is not None}  # None: the values do not vary
    corrected = zip(tested, holm([*tested.values()]), strict=True)
    kind = stored(first).get("report") or stored(second).get("report")
    swept = first_report.swept or second_report.swept  # claims are not tested in sweeps
    return Comparison(
        claims=_verdicts(first_report, second_report, kind) if kind and not swept else {},
        tested=len(tested),
        beyond=[_title(key) for key, p in corrected if p < 1 - CONFIDENCE],
        equal=len(first_records.keys() | second_records.keys()) - len(different),
        different=sorted(different),
    )


def _by_key(report: Recorded) -> dict[Key, tuple[Any, ...]]:
    """Return the measured fields of each record."""
    configurations, measured_fields = _configurations(report.runs), attrgetter(*MEASURED)
    return {_key(record, configurations): measured_fields(record) for record in report.records}


def _configurations(runs: list[Run], **changes: Any) -> dict[str, tuple[str, str]]:
    """Return each run's title and the fingerprint of its configuration."""
    configurations = {}
    for run in runs:
        configuration = replace(run, id="", claims=(), **changes)
        words = [
            run.objective.title if run.objective else "",
            *(language.title for language in run.languages[1:]),
        ]
        title = ", ".join([*filter(None, words), *([f"seed {configuration.seed}"] if not changes else [])])
        configurations[run.id] = title, fingerprint(as_json(configuration))
    return configurations


def _key(record: Record, configurations: dict[str, tuple[str, str]]) -> Key:
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
    """Return the values over seeds of each number that a claim can use."""
    configurations = _configurations(report.runs, seed=0)
    numbers = {}
    for results in results_in(folder, report.runs, report.records):
        for record, values in results.columns():
            if in_claims(record):
                numbers[_key(record, configurations)] = [score.value for score in values.values()]
    return numbers


def _verdicts(ours: Recorded, theirs: Recorded, kind: str) -> dict[str, tuple[str, str]]:
    tables = [claims_of(joined(kind, *report), kind) for report in (ours, theirs)]
    first_verdicts, second_verdicts = (
        {row[0]: row[1] for row in table.rows} if table else {} for table in tables
    )
    return {
        text: (first_verdicts.get(text, NO_RECORDS), second_verdicts.get(text, NO_RECORDS))
        for text in first_verdicts | second_verdicts
    }
