"""The summary printed after a run: scores, claims and the report's path."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from calque.analysis.papers.columns import score_title
from calque.analysis.records.record import ALIGNMENT, DELTA
from calque.analysis.report.claims import PRIMARY_CLAIMS
from calque.analysis.report.page import Report
from calque.analysis.report.table import MISSING, OURS, Table, percent
from calque.analysis.results import Results, mean
from calque.analysis.tasks.catalogue import PRIMARY, task_title
from calque.derive.errors import printable

WIDTH = 80
SCORES = ("ZS", "SUP", DELTA)
TYPES = ("all", "held-out")  # groups of types whose alignment@1 is printed


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
        parts = [_wrapped(f"{self.study}: {self.contents.scale}")]
        if primary := self.contents.tables.get(PRIMARY_CLAIMS):
            claims = [_wrapped(f"- {row[1]}: {row[0]} ({row[5]})") for row in primary.rows]
            title = _wrapped(primary.title.removesuffix(f", {self.contents.scale}"))
            parts.append("\n".join([title, *claims]))
        if self.results and (scores := scores_table(self.results)):
            parts.append(as_text(scores))
        if self.contents.headlines:
            *headlines, counts = self.contents.headlines
            parts += ["\n".join(_wrapped(f"- {claim}") for claim in headlines), _wrapped(counts)]
        return printable("\n\n".join([*parts, str(self.report)]))


def scores_table(results: Results) -> Table | None:
    """Return the scores on every task and alignment@1 by objective and derived language, or None if no
    transfer was measured."""
    tasks, rows = results.main_tasks, []
    columns = {
        f"{task_title(task)} {name}".replace(DELTA, "Δ"): (name, task, PRIMARY[task])
        for task in tasks
        for name in SCORES
    }
    columns |= {f"aligned, {types}": (ALIGNMENT, "", types) for types in TYPES}
    for language in results.transforms if results.has("SUP") else ():
        for objective in results.objectives:
            scores = [
                mean(results.scores(measure, objective, language, task, metric))
                for measure, task, metric in columns.values()
            ]
            if any(scores):
                cells = [percent(score.mean) if score else MISSING for score in scores]
                rows.append((results.objective_title(objective), results.transform_title(language), *cells))
    if not rows:
        return None
    seeds = len(results.seeds)
    over = f"means over {seeds} seeds, intervals in the report" if seeds > 1 else "one seed"
    title = f"{', '.join(map(score_title, tasks))} and alignment@1 in percent, {over}"
    return Table(title, ("objective", "language", *columns), tuple(rows), labels=2)


def as_text(table: Table) -> str:
    """Format a table's title and our rows as text of 80 columns."""
    return "\n".join([_wrapped(table.title), *_fitted(table)])


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _fitted(table: Table) -> list[str]:
    """Format our rows, in groups of columns that fit the width."""
    rows = [row for row in table.rows if table.kind(row) == OURS]
    rows_with_header = [table.header, *rows]
    widths = [min(WIDTH // 3, max(map(len, column))) for column in zip(*rows_with_header, strict=True)]
    labels = list(range(table.labels))
    groups, columns = list[list[int]](), [*labels]
    for place in range(table.labels, len(widths)):
        if len(columns) > len(labels) and sum(widths[i] + 2 for i in (*columns, place)) > WIDTH:
            groups.append(columns)
            columns = [*labels]
        columns.append(place)
    lines = list[str]()
    for group in [*groups, columns]:
        lines += [""] if lines else []
        for row in rows_with_header:
            cells = [row[i][: widths[i]].ljust(widths[i]) for i in group]
            lines.append("  ".join(cells).rstrip()[:WIDTH])
    return lines
