"""Read and judge primary claims, which a TOML file states before a study runs."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from calque.analysis.papers.align_mlm import correlated
from calque.analysis.records.json_rows import parsed
from calque.analysis.records.record import AFTER, ALIGNMENT, DELTA, ENTRY, NO_ENTRY, ROTATED, SHUFFLED
from calque.analysis.report.claims import PRIMARY_CLAIMS, claims_table
from calque.analysis.report.table import Table
from calque.analysis.results import (
    BySeed,
    Results,
    difference,
    differences,
    judge_estimate,
    mean,
    unless_at_floor,
)
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.analysis.verdicts import Claim, Verdict, judge
from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import read_toml

NAME = PRIMARY_CLAIMS  # also of the claims file in a folder of records
CORRELATION = "correlation"
MEASURES = {DELTA: "Δ", "SUP": "SUP", "ZS": "ZS", ALIGNMENT: "alignment@1", CORRELATION: "alignment and −Δ"}
TYPES = ("held-out", "dictionary", "all", ROTATED, SHUFFLED)
WORDS = (ENTRY, NO_ENTRY)
_START = re.compile(r"\s*\[\[\s*claims\s*\]\]\s*(#.*)?")
Cell = tuple[str, ...]
"""An objective and a transform, and optionally a kind of types, an intervention, or a group of words."""


@dataclass(frozen=True)
class PrimaryClaim:
    """A claim in words, and the comparison that decides it: cells in `ascending` order; the difference of two
    `ascending` cells above that of two cells `beyond`; or a correlation `above` a bound."""

    text: str
    measure: str
    paper: str = ""
    task: str = ""
    types: str = ""
    ascending: tuple[Cell, ...] = ()
    beyond: tuple[Cell, ...] = ()
    above: float | None = None

    @property
    def names(self) -> Iterator[tuple[str, str]]:
        for objective, transform, *_ in (*self.ascending, *self.beyond):
            yield "objective", objective
            yield "transform", transform
        if self.task:
            yield "task", self.task

    @property
    def mistake(self) -> str:
        """The first error that can be found without the study, or ""."""
        cells, types = (*self.ascending, *self.beyond), self.types
        if not self.text.strip():
            return "the claim has no text"
        if self.measure not in MEASURES:
            return unknown("measure", self.measure, MEASURES)
        if self.measure == ALIGNMENT and (self.task or types not in (*TYPES, "")):
            return f"a claim about alignment takes no task, and one of these types: {', '.join(TYPES)}"
        if self.measure != ALIGNMENT and (types or not self.task):
            return f"a claim about {self.measure} needs a task, and takes no types"
        if self.measure == CORRELATION:
            return "for a correlation, expected only a bound, `above`" if cells or self.above is None else ""
        few = len(self.ascending) < 2 or any(len(cell) not in (2, 3) for cell in cells)
        if few or self.above is not None:
            return 'expected two or more cells such as ["MLM", "trans"] in `ascending`, and no bound'
        if self.beyond and not len(self.ascending) == len(self.beyond) == 2:
            return "`beyond` compares two differences, so `beyond` and `ascending` need two cells each"
        return next(filter(None, (self._mistake_in("".join(cell[2:])) for cell in cells)), "")

    def _mistake_in(self, third: str) -> str:
        if self.measure == ALIGNMENT:
            types = third or self.types
            return "" if types in TYPES else unknown("kind of types", types, TYPES)
        if not third or (third in WORDS and self.measure in ("ZS", "SUP")):
            return ""
        if self.measure != "ZS":
            return f"{self.measure} has no {third}"
        from calque.analysis.measures.interventions import NAMES  # imports torch

        return "" if third in NAMES else unknown("intervention", third, NAMES)

    def judged(self, results: Results) -> Iterator[Claim]:
        task = f" on {task_title(self.task)} ({metric_title(self._metric)})" if self.task else ""
        types = f" of {self.types} types" if self.types else ""
        description = f"{MEASURES[self.measure]}{task}{types}, "
        for compared, verdict in self._verdicts(results):
            evidence = f"{description}{compared}: {verdict.because}"
            yield Claim(self.text, self.paper or "ours", "primary", replace(verdict, because=evidence))
            description = ""

    @property
    def _metric(self) -> str:
        return PRIMARY.get(self.task, "")  # "" also for a user-defined task whose code is missing

    def _verdicts(self, results: Results) -> Iterator[tuple[str, Verdict]]:
        if self.above is not None:
            verdict = correlated(results, self.task, self.above) if self._metric else judge([], "")
            yield f"ρ above {self.above:g}", verdict
            return
        if self.beyond:
            pairs = self.ascending, self.beyond
            compared = ", beyond ".join(_difference(results, *pair) for pair in pairs)
            yield compared, judge_estimate(difference(*(self._gain(results, *pair) for pair in pairs)))
            return
        for lower, higher in pairwise(self.ascending):
            verdict = judge_estimate(mean(self._gain(results, lower, higher)))
            if self.measure == DELTA:
                cells = [(objective, transform) for objective, transform, *_ in (higher, lower)]
                verdict = unless_at_floor(verdict, results, cells, self.task, self._metric)
            yield _difference(results, lower, higher), verdict

    def _gain(self, results: Results, lower: Cell, higher: Cell) -> BySeed:
        return differences(self._values(results, higher), self._values(results, lower))

    def _values(self, results: Results, cell: Cell) -> BySeed:
        objective, transform, *facet = cell
        third, metric = "".join(facet), self._metric
        if self.measure == ALIGNMENT or third in WORDS:
            metric = third or self.types
        elif third:
            metric += f"{AFTER}{third}"
        return results.scores(self.measure, objective, transform, self.task, metric)


@dataclass(frozen=True)
class PrimaryClaims:
    """A file's content, and its claims by their first lines."""

    content: bytes
    by_line: dict[int, PrimaryClaim]

    @classmethod
    def read(cls, path: Path) -> "PrimaryClaims":
        """Read a claims file. Raises BadInput for a malformed claim, naming the claim's first line."""
        try:
            content, entries = path.read_bytes(), read_toml(path)
        except OSError as error:
            raise BadInput(f"cannot read primary claims: {error.strerror}", path) from None
        except ValueError as error:
            raise BadInput(f"the primary claims are not valid TOML: {error}", path) from None
        lines = content.decode().split("\n")
        starts = [number for number, line in enumerate(lines, 1) if _START.fullmatch(line.rstrip())]
        claims = entries.pop("claims", None)
        if entries or not isinstance(claims, list) or not claims or len(claims) != len(starts):
            raise BadInput(
                "expected one or more claims, each below a line [[claims]], and nothing else", path
            )
        by_line = dict[int, PrimaryClaim]()
        for line, row in zip(starts, claims, strict=True):
            try:
                claim = parsed(PrimaryClaim, row)
                mistake = claim.mistake
            except ValueError as error:
                mistake = str(error)
            if mistake or any(claim.text == earlier.text for earlier in by_line.values()):
                raise BadInput(mistake or f"two claims have the same text: {shown(claim.text)}", path, line)
            by_line[line] = claim
        return cls(content, by_line)

    @property
    def digest(self) -> str:
        """The file's SHA-256, as runs record it."""
        return hashlib.sha256(self.content).hexdigest()

    def change(self, results: Results) -> str:
        """Warn if some runs recorded a different claims file or none."""
        count = sum(run.claims != (self.digest,) for run in results.runs.values())
        other = "were trained or measured with another claims file, or without one"
        return f"Claims changed after the runs: {count} of {len(results.runs)} runs {other}." if count else ""

    def table(self, results: Results) -> Table | None:
        """Tabulate the claims and their verdicts, corrected for all comparisons in the file."""
        change = self.change(results)
        title = f"Primary claims, {'changed after the runs' if change else 'stated before the runs'}"
        claims = [comparison for claim in self.by_line.values() for comparison in claim.judged(results)]
        table = claims_table(results, claims, title)
        return replace(table, note=f"{change} {table.note}".strip()) if table else None


def primary_of(records: Path) -> PrimaryClaims | None:
    """Read the primary claims in a folder of records, if there are any."""
    file = records / f"{NAME}.toml"
    return PrimaryClaims.read(file) if file.is_file() else None


def _title(results: Results, cell: Cell) -> str:
    objective, transform, *third = cell
    title = f"{results.objective_title(objective)} under {results.transform_title(transform)}"
    return ", ".join([title, *third])


def _difference(results: Results, lower: Cell, higher: Cell) -> str:
    (objective, transform, *third), (base_objective, base_transform, *base_third) = higher, lower
    if objective == base_objective and transform == base_transform:
        return f"{_title(results, higher)} minus {', '.join(base_third) or 'without it'}"
    if transform == base_transform and third == base_third:
        return f"{results.objective_title(objective)} − {_title(results, lower)}"
    base = results.transform_title(base_transform) if objective == base_objective else _title(results, lower)
    return f"{_title(results, higher)} minus {base}"
