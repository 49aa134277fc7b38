"""Comparing the records and conclusions in two reports, with tests of whether numbers differ by more than
noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.results.measured import BySeed
from calque.analysis.results.null import in_claims
from calque.analysis.results.results import by_settings
from calque.analysis.statistics.intervals import CONFIDENCE, welch
from calque.analysis.statistics.verdicts import NO_RECORDS, holm
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report.folder import stored
from calque.experiments.report.records import Recorded, read_records

ALPHA = 1 - CONFIDENCE
# A record's measured fields; the other fields identify it.
MEASURED = ("value", "count", "null", "items", "links")
BRIEF = 60  # maximum characters of a value quoted in a message
SEEDS, ITEMS = "seeds", "items"  # the sources of noise in a number


@dataclass(frozen=True)
class Comparison:
    """The result of comparing two reports. `claims` maps each claim to both verdicts. `tested` counts the
    tested numbers by source of noise; `nominal` of them differ at the uncorrected 5 % level, and
    `beyond` also after correction. `different` describes each record that differs or has no counterpart."""

    claims: dict[str, tuple[str, str]]
    tested: Counter[str]
    nominal: int
    beyond: list[str]
    equal: int
    different: list[str]

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        return {claim: verdicts for claim, verdicts in self.claims.items() if len(set(verdicts)) > 1}

    @property
    def verdict(self) -> str:
        """A sentence on whether the conclusions agree, and whether numbers differ by more than noise."""
        noise = "seed noise" if self.tested[SEEDS] else "the noise of test items"
        if not self.different:
            numbers = "all numbers are equal"
        elif self.beyond:
            numbers = f"{len(self.beyond):,} of {self.tested.total():,} numbers differ beyond {noise}"
        else:
            numbers = f"numbers differ within {noise}" if self.tested else "numbers differ, untested"
        if self.changed:
            return f"{len(self.changed)} of {len(self.claims)} conclusions differ; {numbers}"
        return f"{'same conclusions' if self.claims else 'no claims to compare'}; {numbers}"


class _Report(Recorded):
    def without_sweep(self, other: _Report) -> _Report:
        """For each run that the other report contains without a sweep, drop the swept values from its first
        variant, so that the two can be compared."""
        others = {run.id for run in other.runs}
        firsts = {run.id.split("@")[0]: run.id for run in reversed(self.runs)}
        same = {first for run, first in firsts.items() if run in others}
        runs = [replace(run, settings={}) if run.id in same else run for run in self.runs]
        return self._replace(runs=runs)

    def configs(self, **changes: Any) -> dict[str, str]:
        return {run.id: fingerprint(as_json(replace(run, id="", claims=(), **changes))) for run in self.runs}

    def by_key(self) -> dict[str, dict[str, Any]]:
        configs = self.configs()
        return {configs[record.run] + _key(as_json(record)): as_json(record) for record in self.records}

    def numbers(self) -> Iterator[tuple[str, str, BySeed]]:
        """Yield each number that a claim can use: its key, its title, and its values by seed."""
        configs = self.configs(seed=0)
        for results in by_settings(self.runs, self.records).values():
            for record, values in results.columns():
                if in_claims(record):
                    of = {name: value for name, value in as_json(record).items() if name != "run"}
                    title = f"{results.objective_title(results.objective_of(record))}, {_title(of)}"
                    yield configs[record.run] + _key(of), title, values

    def verdicts(self, kind: str) -> dict[str, str]:
        from calque.analysis.papers.catalog import PAPERS
        from calque.analysis.report.claims_table import claims_table
        from calque.experiments.report.report import joined

        results = joined(kind, *self)
        table = claims_table(results, list(PAPERS[kind].claims(results)), "")
        return {row[0]: row[1] for row in table.rows} if table else {}


def compare_reports(first: Path, second: Path) -> Comparison:
    """Compare two folders of records, whose runs are matched by configuration. Numbers that a claim can use
    are compared by Welch's t-test over seeds or, if they do not vary over seeds, by a z-test over test items,
    with Holm's correction. Raises BadInput if the folders share no record."""
    ours, theirs = _Report(*read_records(first)), _Report(*read_records(second))
    ours, theirs = ours.without_sweep(theirs), theirs.without_sweep(ours)
    a, b = ours.by_key(), theirs.by_key()
    common = a.keys() & b.keys()
    if not common:
        raise BadInput(f"shares no record with {second}, so nothing can be compared", first)
    different = [f"{_title(a[key])}: not in {second}" for key in a.keys() - common]
    different += [f"{_title(b[key])}: not in {first}" for key in b.keys() - common]
    changes = [_change(a[key], b[key]) for key in common]
    different += filter(None, changes)
    tests = _tests(ours, theirs)
    corrected = holm([p for _, p, _ in tests])
    kind = stored(first).get("report") or stored(second).get("report")
    swept = any(run.settings for run in (*ours.runs, *theirs.runs))
    return Comparison(
        claims=_verdicts(ours, theirs, kind) if kind and not swept else {},  # claims are not tested in sweeps
        tested=Counter(noise for _, _, noise in tests),
        nominal=sum(p < ALPHA for _, p, _ in tests),
        beyond=[title for (title, *_), p in zip(tests, corrected, strict=True) if p < ALPHA],
        equal=changes.count(""),
        different=sorted(different),
    )


def _verdicts(ours: _Report, theirs: _Report, kind: str) -> dict[str, tuple[str, str]]:
    here, there = ours.verdicts(kind), theirs.verdicts(kind)
    return {text: (here.get(text, NO_RECORDS), there.get(text, NO_RECORDS)) for text in here | there}


def _tests(ours: _Report, theirs: _Report) -> list[tuple[str, float, str]]:
    """Return the title, p-value and source of noise for each number in both reports whose noise is known."""
    numbers, tests = {key: values for key, _, values in theirs.numbers()}, []
    for key, title, values in ours.numbers():
        if key in numbers and (test := _test(values, numbers[key])):
            tests.append((title, *test))
    return tests


def _change(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Describe how the measured fields of two records differ; "" if they are equal."""
    pairs = [(key, ours.get(key), theirs.get(key)) for key in MEASURED if ours.get(key) != theirs.get(key)]
    values = "; ".join(f"{name} {_brief(one)}, not {_brief(other)}" for name, one, other in pairs)
    return f"{_title(ours)}: {values}" if pairs else ""


def _test(ours: BySeed, theirs: BySeed) -> tuple[float, str] | None:
    """Return the p-value of a difference and its source of noise, or None if the noise is unknown."""
    p = welch([score.value for score in ours.values()], [score.value for score in theirs.values()])
    if p is not None:
        return p, SEEDS
    gap = next(iter(ours.values())) - next(iter(theirs.values()))
    return (math.erfc(abs(gap.value) / gap.error / math.sqrt(2)), ITEMS) if gap.error else None


def _key(record: dict[str, Any]) -> str:
    return fingerprint({name: value for name, value in record.items() if name not in (*MEASURED, "run")})


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= BRIEF else f"{text[:BRIEF]}..."


def _title(record: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in record.items() if name not in MEASURED)
