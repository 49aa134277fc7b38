"""The summary printed after a run: scores, findings and the report's path, as ASCII text or JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from calque.analysis.papers.columns import score_title
from calque.analysis.records.record import ALIGNMENT, DELTA
from calque.analysis.report.claims_table import verdicts
from calque.analysis.report.page import Report
from calque.analysis.report.table import MISSING, OURS, Table, percent
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results, retained
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.statistics.verdicts import FAILS, HOLDS, UNDECIDED
from calque.analysis.tasks.catalog import PRIMARY, task_title

WIDTH = 80
MOST = 3  # maximum number of findings printed
LONGEST = 40  # maximum lines of a printed table
SCORES = ("ZS", "SUP", DELTA)
TYPES = ("all", "held-out")  # groups of types whose alignment@1 is printed
_WORDS = {"Δ": "delta", "ρ": "rho", "±": "+/-", "≤": "<=", "≥": ">=", "→": "->", "×": "x"}
_SIGNS = {"−": "-", "–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "\N{NO-BREAK SPACE}": " "}
ASCII = str.maketrans(_WORDS | _SIGNS)


@dataclass(frozen=True)
class Outcome:
    """A study's report: its folder and contents. `results` is None for a sweep."""

    folder: Path
    contents: Report
    study: str
    results: Results | None

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def __str__(self) -> str:
        scores = scores_table(self.results) if self.results else None
        parts = ["\n".join([_wrapped(scores.title), *_fitted(scores)])] if scores else self._tables()
        text = "\n\n".join(
            [_wrapped(f"{self.study}: {self.contents.scale}"), *self._primary(), *parts, *self._findings()]
        )
        return f"{text.translate(ASCII)}\n\n{self.report}"

    @property
    def json(self) -> dict[str, Any]:
        """The scores, as fractions with 95 % intervals over seeds, and every claim that was tested."""
        primary, claims = (
            [{"claim": row[0], "verdict": row[1], "evidence": row[5]} for row in table.rows] if table else []
            for table in (self.contents.primary, self.contents.claims)
        )
        return {
            "study": self.study,
            "report": str(self.report),
            "scores": list(scores_json(self.results)) if self.results else [],
            "findings": list(self.contents.findings) if self.results else [],
            "primary claims": primary,
            "claims": claims,
        }

    def _primary(self) -> Iterator[str]:
        if table := self.contents.primary:
            title = _wrapped(table.title.removesuffix(f", {self.contents.scale}"))
            yield "\n".join([title, *(_wrapped(f"- {row[1]}: {row[0]} ({row[5]})") for row in table.rows)])

    def _findings(self) -> list[str]:
        """Return at most three claims, decided ones first, and the number of claims by verdict; without
        claims, return at most three findings."""
        claims = self.contents.claims
        if not claims:
            findings = self.contents.findings[:MOST] if self.results else ()
            return ["\n".join(_wrapped(f"- {finding}") for finding in findings)] if findings else []
        rows = sorted(
            claims.rows, key=lambda row: (row[1] not in (HOLDS, FAILS), row[1].startswith(UNDECIDED))
        )
        lines = []
        for claim, verdict, *_, evidence in (row[:6] for row in rows[:MOST]):
            because = f" ({evidence.split(';')[0]})" if verdict in (HOLDS, FAILS) else ""
            lines.append(_wrapped(f"- {verdict}: {claim}{because}"))
        return ["\n".join(lines), _wrapped(verdicts(claims))]

    def _tables(self) -> Iterator[str]:
        """Yield the main tables, which are shown if no transfer to derived languages was measured."""
        for name in self.contents.main or self.contents.tables:
            table = self.contents.tables[name]
            lines = _fitted(table)
            where = [f"  {len(lines)} lines: {self.folder / f'{name}.md'}"]
            yield "\n".join([_wrapped(table.title), *(lines if len(lines) <= LONGEST else where)])


def scores_table(results: Results) -> Table | None:
    """Return the scores on every task and alignment@1 by objective and derived language, or None if no
    transfer was measured."""
    titles = {
        (name, task): f"{task_title(task)} {name}".replace(DELTA, "Δ")
        for task in results.main_tasks
        for name in SCORES
    }
    titles |= {(types, ""): f"aligned, {types}" for types in TYPES}
    rows = []
    for language, objective, estimates in _estimates(results):
        cells = [percent(its.mean) if (its := estimates.get(number)) else MISSING for number in titles]
        if estimates:
            rows.append((results.objective_title(objective), results.transform_title(language), *cells))
    if not rows:
        return None
    seeds = len(results.seeds)
    over = f"means over {seeds} seeds, intervals in the report" if seeds > 1 else "one seed"
    metrics = ", ".join(score_title(task) for task in results.main_tasks)
    title = f"{metrics} and alignment@1 in percent, {over}"
    return Table(title, ("objective", "language", *titles.values()), tuple(rows), labels=2)


def scores_json(results: Results) -> Iterator[dict[str, Any]]:
    """Yield the numbers in `scores_table` with intervals, in one row per task and one for alignment."""
    for language, objective, estimates in _estimates(results):
        for task in (*results.main_tasks, ""):
            numbers = {
                name: {key: getattr(its, key) for key in ("mean", "low", "high", "seeds")}
                for (name, of), its in estimates.items()
                if of == task
            }
            row: dict[str, Any] = {"language": language, "objective": objective}
            if task:
                kept = retained(results, objective, language, task, PRIMARY[task])
                at_floor = bool(kept and kept.at_floor)
                row |= {"task": task, "metric": PRIMARY[task], "ZS at floor": at_floor}
            if numbers:
                yield row | numbers


def _estimates(results: Results) -> Iterator[tuple[str, str, dict[tuple[str, str], Estimate]]]:
    """Yield each language and objective with its scores by measure and task, and its alignment@1 by group of
    types and "". Yield nothing if no transfer was measured."""
    for language in results.transforms if results.has("SUP") else ():
        for objective in results.objectives:
            scores = {
                (name, task): mean(results.scores(name, objective, language, task, PRIMARY[task]))
                for task in results.main_tasks
                for name in SCORES
            }
            for types in TYPES:
                scores[types, ""] = mean(results.scores(ALIGNMENT, objective, language, "", types))
            yield language, objective, {number: its for number, its in scores.items() if its}


def _wrapped(text: str) -> str:
    return fill(text.translate(ASCII), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _fitted(table: Table) -> list[str]:
    """Format a table, leaving out published rows and floors, in groups of columns that fit the width."""
    rows = [row for row in table.rows if table.kind(row) == OURS]
    whole = [[cell.translate(ASCII) for cell in row] for row in (table.header, *rows)]
    widths = [min(WIDTH // 3, max(len(row[i]) for row in whole)) for i in range(len(table.header))]
    labels, lines, place = range(table.labels), list[str](), table.labels
    while place < len(widths):
        chosen, end = [*labels, place], place + 1
        while end < len(widths) and sum(widths[i] + 2 for i in (*chosen, end)) <= WIDTH:
            chosen, end = [*chosen, end], end + 1
        lines += [""] if lines else []
        lines += [
            "  ".join(row[i][: widths[i]].ljust(widths[i]) for i in chosen).rstrip()[:WIDTH] for row in whole
        ]
        place = end
    return lines
