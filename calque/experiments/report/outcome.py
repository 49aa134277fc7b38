"""The summary printed after a run: scores, claims and the report's path."""

from dataclasses import dataclass
from itertools import product
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
        parts, scale = [_wrapped(f"{self.study}: {self.contents.scale}")], f", {self.contents.scale}"
        if primary := self.contents.tables.get(PRIMARY_CLAIMS):
            claims = [f"- {row[1]}: {row[0]} ({row[5]})" for row in primary.rows]
            parts.append("\n".join(map(_wrapped, [primary.title.removesuffix(scale), *claims])))
        if self.results and (scores := scores_table(self.results)):
            parts.append(as_text(scores))
        if self.contents.headlines:
            *headlines, counts = self.contents.headlines
            parts += ["\n".join(_wrapped(f"- {claim}") for claim in headlines), _wrapped(counts)]
        return printable("\n\n".join([*parts, str(self.report)]))


def scores_table(results: Results) -> Table | None:
    """Return the scores on every task and alignment@1 by objective and derived language, or None if no
    transfer was measured."""
    tasks, rows = results.main_tasks, list[tuple[str, ...]]()
    columns = {
        f"{task_title(task)} {name}".replace(DELTA, "Δ"): (name, task, PRIMARY[task])
        for task, name in product(tasks, ("ZS", "SUP", DELTA))
    }
    columns |= {f"aligned, {types}": (ALIGNMENT, "", types) for types in ("all", "held-out")}
    for language, objective in product(results.transforms, results.objectives if results.has("SUP") else ()):
        cells = []
        for measure, task, metric in columns.values():
            score = mean(results.scores(measure, objective, language, task, metric))
            cells.append(percent(score.mean) if score else MISSING)
        if {*cells} != {MISSING}:
            rows.append((results.objective_title(objective), results.transform_title(language), *cells))
    if not rows:
        return None
    seeds = len(results.seeds)
    over = f"means over {seeds} seeds, intervals in the report" if seeds > 1 else "one seed"
    title = f"{', '.join(map(score_title, tasks))} and alignment@1 in percent, {over}"
    return Table(title, ("objective", "language", *columns), tuple(rows), labels=2)


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def as_text(table: Table) -> str:
    """Format a table's title and our rows, in groups of columns that fit into 80 letters."""
    rows = [table.header, *(row for row in table.rows if table.kind(row) == OURS)]
    columns = list[list[str]]()
    for column in zip(*rows, strict=True):
        width = min(WIDTH // 3, max(map(len, column)))
        columns.append([cell[:width].ljust(width) for cell in column])
    labels = columns[: table.labels]
    blocks = [labels]
    for cells in columns[table.labels :]:
        if len(blocks[-1]) > len(labels) and sum(len(c[0]) + 2 for c in (*blocks[-1], cells)) > WIDTH:
            blocks.append(labels)
        blocks[-1] = [*blocks[-1], cells]
    texts = []
    for block in blocks:
        lines = ("  ".join(row).rstrip()[:WIDTH] for row in zip(*block, strict=True))
        texts.append("\n".join(lines))
    return "\n".join([_wrapped(table.title), "\n\n".join(texts)])
