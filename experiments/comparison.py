"""Two reports compared: number by number, against the noise of seeds, and by what they conclude."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from calque.analysis.records.json_rows import as_json
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Run
from calque.analysis.report.table import Table
from calque.analysis.results.measured import BySeed
from calque.analysis.results.null import in_claims
from calque.analysis.results.results import by_settings
from calque.analysis.statistics.intervals import CONFIDENCE, welch
from calque.analysis.statistics.verdicts import NO_RECORDS, holm, in_families
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.report_records import read_records
from calque.experiments.runs import stored

ALPHA = 1 - CONFIDENCE
CLAIMS = "claims.md"
MEASURED = ("value", "count", "null", "items", "links")
"""The measured fields of a record; the others say what of which run. Older records have no items."""
BRIEF = 60  # characters of a value in a message
SEEDS, ITEMS = "seeds", "items"  # what the noise of a number was taken from


@dataclass(frozen=True)
class Comparison:
    """What two reports have in common and what not.

    `claims` have the verdicts of both, of each claim that either report prints. `tested` counts the numbers that were
    tested by what their noise was taken from, `nominal` those of them that differ at 5 % each, and `beyond` names those
    that differ after correction for all. `different` has a line for each record that is not equal in every field or is
    in one report only. `without_items` counts the records whose items one report lacks, which are not compared.
    """

    claims: dict[str, tuple[str, str]]
    tested: Counter[str]
    nominal: int
    beyond: list[str]
    equal: int
    different: list[str]
    without_items: int

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        return {claim: verdicts for claim, verdicts in self.claims.items() if len(set(verdicts)) > 1}

    @property
    def verdict(self) -> str:
        """In a sentence whether conclusions are the same, and whether numbers differ by more than noise."""
        noise = "seed noise" if self.tested[SEEDS] else "the noise of test items"
        numbers = f"numbers differ within {noise}" if self.tested else "numbers differ, and none can be tested"
        if self.beyond:
            numbers = f"{len(self.beyond):,} of {self.tested.total():,} numbers differ beyond {noise}"
        if not self.different:
            numbers = "all numbers are equal"
        if self.changed:
            return f"{len(self.changed)} of {len(self.claims)} conclusions differ; {numbers}"
        return f"{'same conclusions' if self.claims else 'no claims to compare'}; {numbers}"


@dataclass(frozen=True)
class _Report:
    runs: list[Run]
    records: list[Record]
    floors: list[Floor]
    printed: dict[str, str]  # the verdicts on the claims, as printed
    kind: str = ""  # of the report

    @classmethod
    def open(cls, folder: Path) -> _Report:
        path = folder / CLAIMS
        rows = Table.of_markdown(path.read_text(encoding="utf-8")).rows if path.is_file() else ()
        return cls(*read_records(folder), {row[0]: row[1] for row in rows}, stored(folder).get("report", ""))

    @cached_property
    def _configs(self) -> dict[str, dict[str, Any]]:
        """The configuration of each run: all that says what it is, except its name."""
        return {run.id: as_json(replace(run, id="", claims=())) for run in self.runs}

    def beside(self, other: _Report) -> _Report:
        """With the first run of a sweep that the other report has by itself as a run without a sweep's values."""
        others, firsts = {run.id for run in other.runs}, {run.id.split("@")[0]: run.id for run in reversed(self.runs)}
        same = {first for run, first in firsts.items() if run in others}
        runs = [replace(run, settings={}) if run.id in same else run for run in self.runs]
        return replace(self, runs=runs)

    def by_key(self) -> dict[str, dict[str, Any]]:
        """The records by everything that says what they are of."""
        configs = {run: fingerprint(config) for run, config in self._configs.items()}
        records = ((record.run, as_json(record)) for record in self.records)
        return {configs[run] + _key(record): record for run, record in records}

    def numbers(self) -> Iterator[tuple[str, str, BySeed]]:
        """The numbers of the last step that claims are about, over seeds: each with what it is of, and its title."""
        for results in by_settings(self.runs, self.records).values():
            for record, values in results.columns():
                if in_claims(record):
                    config = fingerprint(self._configs[record.run] | {"seed": None})
                    of = {name: value for name, value in as_json(record).items() if name != "run"}
                    title = f"{results.objective_title(results.objective_of(record))}, {_title(of)}"
                    yield config + _key(of), title, values

    def verdicts(self, kind: str) -> dict[str, str]:
        """The verdicts on the claims of a kind of report, corrected as it has them."""
        from calque.analysis.papers.catalog import PAPERS
        from calque.experiments.report import joined

        claims = [*PAPERS[kind].claims(joined(kind, self.runs, self.records, self.floors))]
        tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
        corrected = in_families((claim.family, claim.verdict) for claim in tested)
        return {claim.text: one.verdict for claim, one in zip(tested, corrected, strict=True)}


def compare_reports(first: Path, second: Path) -> Comparison:
    """Compare the folders of two reports, or committed records. Runs are identified by their configuration, not by
    their names, which hold fingerprints. Numbers are equal only to the last digit. Whether one differs beyond noise is
    tested for the numbers of the last step that claims are about: by Welch's t-test over the seeds of both reports, or,
    where seeds do not vary or there is one each, by the test items, which vary less than seeds do. Holm's correction is
    for all of these numbers. Raises BadInput if a folder has no report, or the two have no record in common."""
    ours, theirs = _Report.open(first), _Report.open(second)
    ours, theirs = ours.beside(theirs), theirs.beside(ours)
    a, b = ours.by_key(), theirs.by_key()
    common = a.keys() & b.keys()
    if not common:
        raise BadInput(f"no run in common with {second}, so nothing can be compared", first)
    different = [f"{_title(a[key])}: not in {second}" for key in a.keys() - common]
    different += [f"{_title(b[key])}: not in {first}" for key in b.keys() - common]
    equal = without_items = 0
    for one, other in ((a[key], b[key]) for key in common):
        lacking = ("items" in one) != ("items" in other)
        fields = [name for name in MEASURED if one.get(name) != other.get(name) and not (lacking and name == "items")]
        values = "; ".join(f"{name} {_brief(one.get(name))}, not {_brief(other.get(name))}" for name in fields)
        different += [f"{_title(one)}: {values}"] if fields else []
        equal, without_items = equal + (not fields), without_items + lacking
    known = {key: values for key, _, values in theirs.numbers()}
    tests = [(title, test) for key, title, v in ours.numbers() if key in known and (test := _test(v, known[key]))]
    corrected = holm([p for _, (p, _) in tests])
    return Comparison(
        _claims(ours, theirs, bool(different or without_items)),
        Counter(noise for _, (_, noise) in tests),
        sum(p < ALPHA for _, (p, _) in tests),
        [title for (title, _), p in zip(tests, corrected, strict=True) if p < ALPHA],
        equal,
        sorted(different),
        without_items,
    )


def _claims(ours: _Report, theirs: _Report, differ: bool) -> dict[str, tuple[str, str]]:
    """Both verdicts on each claim, computed from the records if they differ, because printed verdicts may be older."""
    printed, kind = ours.printed | theirs.printed, ours.kind or theirs.kind
    if any(run.settings for run in (*ours.runs, *theirs.runs)):
        return {}  # a sweep has no claims
    if not (printed and kind) or not (differ or ours.floors != theirs.floors):
        return {claim: (verdict, verdict) for claim, verdict in printed.items()}
    here, there = ours.verdicts(kind), theirs.verdicts(kind)
    return {claim: (here.get(claim, NO_RECORDS), there.get(claim, NO_RECORDS)) for claim in here | there}


def _test(ours: BySeed, theirs: BySeed) -> tuple[float, str] | None:
    """The p of a difference, and what its noise was taken from; None where no noise is known."""
    p = welch(*([one.value for one in values.values()] for values in (ours, theirs)))
    if p is not None:
        return p, SEEDS
    gap = next(iter(ours.values())) - next(iter(theirs.values()))
    return (math.erfc(abs(gap.value) / gap.error / math.sqrt(2)), ITEMS) if gap.error else None


def _key(record: dict[str, Any]) -> str:
    """Everything that a record says of what it is, except its run."""
    return fingerprint({name: value for name, value in record.items() if name not in (*MEASURED, "run")})


def _brief(value: Any) -> str:
    """A value for a message: the first few of many test items."""
    text = repr(value)
    return text if len(text) <= BRIEF else f"{text[:BRIEF]}..."


def _title(record: dict[str, Any]) -> str:
    """What a record is of, for people."""
    return ", ".join(f"{name} {value}" for name, value in record.items() if name not in MEASURED)
