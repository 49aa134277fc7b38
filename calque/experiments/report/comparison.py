"""Comparison of two reports: their verdicts and their records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.verdicts import NO_RECORDS
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report.folder import Recorded, read_records, stored
from calque.experiments.report.report import claims_of, joined

MEASURED = ("value", "count", "items", "links")  # the other fields identify a record
Key = tuple[tuple[str, str], ...]
Report = tuple[Path, Recorded]


@dataclass(frozen=True)
class Comparison:
    """Each claim's two verdicts, the number of equal records, and the titles of different or missing ones."""

    claims: dict[str, tuple[str, str]]
    equal: int
    different: list[str]

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        return {claim: verdicts for claim, verdicts in self.claims.items() if len(set(verdicts)) > 1}


def compare_reports(first: Path, second: Path) -> Comparison:
    """Compare two folders, matching runs by configuration. Raises BadInput if they share no record."""
    reports = [(folder, read_records(folder)) for folder in (first, second)]
    ours, theirs = map(_by_key, reports)
    if not ours.keys() & theirs.keys():
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = []
    for key in ours.keys() | theirs.keys():
        title = ", ".join(value if name == "run" else f"{name} {value}" for name, value in key[:-1])
        if key not in ours or key not in theirs:
            different.append(f"{title}: only in {first if key in ours else second}")
        elif names := [name for name in MEASURED if ours[key][name] != theirs[key][name]]:
            one, other = ours[key]["value"], theirs[key]["value"]
            unlike = f"{one} in both, but different {' and '.join(names)}"
            different.append(f"{title}: {f'{one} and {other}' if one != other else unlike}")
    equal = len(ours.keys() | theirs.keys()) - len(different)
    return Comparison(_verdicts(reports), equal, sorted(different))


def _by_key(report: Report) -> dict[Key, dict[str, Any]]:
    folder, (runs, records, _) = report
    by_id, by_key = {run.id: run for run in runs}, dict[Key, dict[str, Any]]()
    prints = {run.id: fingerprint(replace(run, id="", claims=())) for run in runs}
    for record in records:
        run = by_id[record.run]
        parts = [part.title for part in (run.objective, *run.languages[1:]) if part]
        fields = as_json(replace(record, run=", ".join([*parts, f"seed {run.seed}"])))
        fields = {name: str(value) for name, value in fields.items() if name not in MEASURED}
        by_key[*fields.items(), ("configuration", prints[run.id])] = vars(record)
    if len(by_key) < len(records):
        raise BadInput("contains a record twice", folder)
    return by_key


def _verdicts(reports: Sequence[Report]) -> dict[str, tuple[str, str]]:
    kind = next(filter(None, (stored(folder).get("report") for folder, _ in reports)), None)
    if not kind or any(report.swept for _, report in reports):
        return {}
    tables = [claims_of(joined(kind, *report), kind) for _, report in reports]
    ours, theirs = ({row[0]: row[1] for row in table.rows} if table else {} for table in tables)
    return {text: (ours.get(text, NO_RECORDS), theirs.get(text, NO_RECORDS)) for text in ours | theirs}
