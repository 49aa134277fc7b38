"""Comparison of two reports: their verdicts, their numbers over seeds, and their records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import AER, ALIGNMENT, DELTA, RETRIEVAL, Record, Run
from calque.analysis.results import by_settings
from calque.analysis.statistics import CONFIDENCE, holm, welch
from calque.analysis.tasks.catalogue import PRIMARY
from calque.analysis.verdicts import NO_RECORDS
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report.folder import Recorded, read_records, stored
from calque.experiments.report.report import claims_of, joined

MEASURED = ("value", "count", "null", "items", "links")  # the other fields identify a record
TESTED = ("SUP", "ZS", DELTA, ALIGNMENT, AER, RETRIEVAL)  # measures whose numbers are compared over seeds
Key = tuple[tuple[str, str], ...]
Report = tuple[Path, Recorded]


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
    ours, theirs = map(_by_key, reports)
    if not ours.keys() & theirs.keys():
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = []
    for key in ours.keys() | theirs.keys():
        if key not in ours or key not in theirs:
            different.append(f"{_title(key)}: only in {first if key in ours else second}")
        elif names := [name for name in MEASURED if ours[key][name] != theirs[key][name]]:
            value = ours[key]["value"]
            in_both = f"{value} in both, but different {' and '.join(names)}"
            values = f"{value} and {theirs[key]['value']}" if "value" in names else in_both
            different.append(f"{_title(key)}: {values}")
    our_numbers, their_numbers = map(_numbers, reports)
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


def _by_key(report: Report) -> dict[Key, dict[str, Any]]:
    runs, records, _ = report[1]
    configurations = {run.id: _configuration(run) for run in runs}
    return {_key(record, configurations): vars(record) for record in records}


def _configuration(run: Run, **changes: Any) -> tuple[str, str]:
    """Return a run's title and the fingerprint of its configuration, to which `changes` are made."""
    parts = [part.title for part in (run.objective, *run.languages[1:]) if part]
    title = ", ".join(parts if changes else [*parts, f"seed {run.seed}"])
    return title, fingerprint(replace(run, id="", claims=(), **changes))


def _key(record: Record, configurations: Mapping[str, tuple[str, str]]) -> Key:
    title, configuration = configurations[record.run]
    fields = as_json(replace(record, run=title)) | {"configuration": configuration}
    return tuple((name, str(value)) for name, value in fields.items() if name not in MEASURED)


def _title(key: Key) -> str:
    parts = (value if name == "run" else f"{name} {value}" for name, value in key if name != "configuration")
    return ", ".join(parts)


def _numbers(report: Report) -> dict[Key, list[float]]:
    """Return the values over seeds of each tested number: of tasks, only the main score."""
    folder, (runs, records, _) = report
    configurations, numbers = {run.id: _configuration(run, seed=0) for run in runs}, {}
    try:
        variants = by_settings(runs, records).values()
    except BadInput as error:  # a record is repeated
        raise BadInput(str(error), folder) from None
    for record, values in chain(*(results.columns() for results in variants)):
        if record.measure in TESTED and record.metric == PRIMARY.get(record.task, record.metric):
            numbers[_key(record, configurations)] = [score.value for score in values.values()]
    return numbers


def _verdicts(reports: Sequence[Report]) -> dict[str, tuple[str, str]]:
    """Return both verdicts on each claim; none for sweeps, whose claims are not tested."""
    kind = next(filter(None, (stored(folder).get("report") for folder, _ in reports)), None)
    if not kind or any(report.swept for _, report in reports):
        return {}
    tables = [claims_of(joined(kind, *report), kind) for _, report in reports]
    ours, theirs = ({row[0]: row[1] for row in table.rows} if table else {} for table in tables)
    return {text: (ours.get(text, NO_RECORDS), theirs.get(text, NO_RECORDS)) for text in ours | theirs}
