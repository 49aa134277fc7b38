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
    ours, theirs = read_records(first), read_records(second)
    a, b = _by_key(ours), _by_key(theirs)
    shared = a.keys() & b.keys()
    if not shared:
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = [f"{_title(key)}: only in {first if key in a else second}" for key in a.keys() ^ b.keys()]
    different += [f"{_title(key)}: {_difference(a[key], b[key])}" for key in shared if a[key] != b[key]]
    here, there = _numbers(first, ours), _numbers(second, theirs)
    found = {key: welch(values, there[key]) for key, values in here.items() if key in there}
    tested = {key: p for key, p in found.items() if p is not None}  # None: the values do not vary
    corrected = zip(tested, holm([*tested.values()]), strict=True)
    kind = stored(first).get("report") or stored(second).get("report")
    swept = ours.swept or theirs.swept  # claims are not tested in sweeps
    return Comparison(
        claims=_verdicts(ours, theirs, kind) if kind and not swept else {},
        tested=len(tested),
        beyond=[_title(key) for key, p in corrected if p < 1 - CONFIDENCE],
        equal=len(a.keys() | b.keys()) - len(different),
        different=sorted(different),
    )


def _by_key(report: Recorded) -> dict[Key, tuple[Any, ...]]:
    """Return the measured fields of each record."""
    configurations, measured = _configurations(report.runs), attrgetter(*MEASURED)
    return {_key(record, configurations): measured(record) for record in report.records}


def _configurations(runs: list[Run], **changes: Any) -> dict[str, tuple[str, str]]:
    """Return each run's title and the fingerprint of its configuration."""
    found = {}
    for run in runs:
        changed = replace(run, id="", claims=(), **changes)
        words = [run.objective.title if run.objective else "", *(each.title for each in run.languages[1:])]
        title = ", ".join([*filter(None, words), *([f"seed {changed.seed}"] if not changes else [])])
        found[run.id] = title, fingerprint(as_json(changed))
    return found


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
    found = {}
    for results in results_in(folder, report.runs, report.records):
        for record, values in results.columns():
            if in_claims(record):
                found[_key(record, configurations)] = [score.value for score in values.values()]
    return found


def _verdicts(ours: Recorded, theirs: Recorded, kind: str) -> dict[str, tuple[str, str]]:
    tables = [claims_of(joined(kind, *report), kind) for report in (ours, theirs)]
    here, there = ({row[0]: row[1] for row in table.rows} if table else {} for table in tables)
    return {text: (here.get(text, NO_RECORDS), there.get(text, NO_RECORDS)) for text in here | there}
