"""The end of a run in 80 columns of ASCII: scores, findings and the path of the report; also as JSON."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from calque.analysis.records.record import DELTA
from calque.analysis.report.claims_table import verdicts
from calque.analysis.report.numeric import BEST, best
from calque.analysis.report.table import FLOOR, Table, cell, percent
from calque.analysis.results.measured import BySeed, average, mean
from calque.analysis.results.results import Results
from calque.analysis.results.retained import retained
from calque.analysis.statistics.verdicts import FAILS, HOLDS, UNDECIDED
from calque.analysis.tasks.catalog import PRIMARY, metric_title, task_title

WIDTH = 80
CELL = 8  # columns of a number with its mark
MOST = 3  # findings that are printed
LONGEST = 40  # lines of a table that is printed
SIDES = {"ZS": +1, "SUP": +1, DELTA: -1}  # the scores, and whether more of them is better
TYPES = ("all", "held-out")  # whose alignment@1 is printed
ALIGNED = "alignment@1"
_HEADS = {DELTA: "delta"}
STAR, AT_FLOOR = "*", "f"  # the marks of a number
_WORDS = {"Δ": "delta", "ρ": "rho", "±": "+/-", "≤": "<=", "≥": ">=", "→": "->", "×": "x"}
_SIGNS = {"−": "-", "–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "\N{NO-BREAK SPACE}": " "}
ASCII = str.maketrans(_WORDS | _SIGNS)


@dataclass(frozen=True)
class Outcome:
    """What a study's report says. `primary` are its own claims, and `claims` a paper's. `tables` are shown where no
    transfer to derived languages was measured."""

    study: str
    scale: str
    folder: Path
    results: Results | None
    findings: Sequence[str]
    claims: Table | None
    tables: Mapping[str, Table]
    primary: Table | None = None

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def __str__(self) -> str:
        """The text for a terminal; its last line is the path of the report."""
        scores = _scores(self.results) if self.results else []
        parts = _blocks(self.results, scores) if self.results and scores else self._tables()
        title = _wrapped(f"{self.study}: {self.scale}")
        text = "\n\n".join([title, *self._primary(), *parts, *self._findings()])
        return f"{text.translate(ASCII)}\n\n{self.report}"

    @property
    def json(self) -> dict[str, Any]:
        """The scores as fractions with their 95 % intervals over seeds, and every claim that was tested."""
        primary, claims = (
            [{"claim": row[0], "verdict": row[1], "evidence": row[5]} for row in table.rows] if table else []
            for table in (self.primary, self.claims)
        )
        return {
            "study": self.study,
            "report": str(self.report),
            "scores": [score.json for score in _scores(self.results)] if self.results else [],
            "findings": list(self.findings),
            "primary claims": primary,
            "claims": claims,
        }

    def _primary(self) -> Iterator[str]:
        if self.primary:
            title = _wrapped(self.primary.title.removesuffix(f", {self.scale}"))
            yield "\n".join([title, *(_wrapped(f"- {row[1]}: {row[0]} ({row[5]})") for row in self.primary.rows)])

    def _findings(self) -> list[str]:
        """At most three, decided ones first; then a count of all verdicts."""
        if not self.claims:
            return ["\n".join(_wrapped(f"- {finding}") for finding in self.findings[:MOST])] if self.findings else []
        rows = sorted(self.claims.rows, key=lambda row: (row[1] not in (HOLDS, FAILS), row[1].startswith(UNDECIDED)))
        return ["\n".join(_finding(row[0], row[1], row[5]) for row in rows[:MOST]), _wrapped(verdicts(self.claims))]

    def _tables(self) -> Iterator[str]:
        for name, table in self.tables.items():
            lines = _fitted(table)
            where = [f"  {len(lines)} lines: {self.folder / f'{name}.md'}"]
            yield "\n".join([_wrapped(table.title), *(lines if len(lines) <= LONGEST else where)])


@dataclass(frozen=True)
class _Score:
    """The numbers of an objective in a language: the scores of a task, or alignment."""

    language: str
    objective: str
    task: str
    values: Mapping[str, BySeed]
    at_floor: bool = False

    @property
    def json(self) -> dict[str, Any]:
        estimates = {name: asdict(it) for name, by_seed in self.values.items() if (it := mean(by_seed))}
        values = {name: {key: of[key] for key in ("mean", "low", "high", "seeds")} for name, of in estimates.items()}
        of_task = {"task": self.task, "metric": PRIMARY[self.task], "ZS at floor": self.at_floor} if self.task else {}
        return {"language": self.language, "objective": self.objective, **of_task, **values}


def _finding(claim: str, verdict: str, evidence: str) -> str:
    because = f" ({evidence.split(';')[0]})" if verdict in (HOLDS, FAILS) else ""
    return _wrapped(f"- {verdict}: {claim}{because}")


def _wrapped(text: str) -> str:
    return fill(text.translate(ASCII), WIDTH, subsequent_indent="  ", break_long_words=True, break_on_hyphens=False)


class _Column(NamedTuple):
    """The numbers of a column by objective, which side is better, and whose zero-shot score is at the floor."""

    group: str
    head: str
    values: Mapping[str, BySeed]
    side: int
    at_floor: Collection[str] = ()

    def cell(self, objective: str) -> str:
        """The mean in percent, marked if it is at the floor, or the best as in a report's tables."""
        number = mean(self.values.get(objective, {}))
        if number is None:
            return "- "
        marked = best({name: cell(mean(values)) for name, values in self.values.items()}, self.side)
        return percent(number.mean) + (AT_FLOOR if objective in self.at_floor else STAR if objective in marked else " ")


def _scores(results: Results) -> list[_Score]:
    """The scores of every derived language, objective and task, and alignment as a task without a name; empty where no
    model was fine-tuned on a derived language."""
    scores = []
    for language in results.transforms if results.has("SUP") else ():
        for objective in results.objectives:
            for task in results.main_tasks:
                metric = PRIMARY[task]
                values = {m: its for m in SIDES if (its := results.scores(m, objective, language, task, metric))}
                if values:
                    kept = retained(results, objective, language, task, metric)
                    scores.append(_Score(language, objective, task, values, bool(kept and kept.at_floor)))
            aligned = {m: its for m in TYPES if (its := results.alignments(objective, language, m))}
            if aligned:
                scores.append(_Score(language, objective, "", aligned))
    return scores


def _blocks(results: Results, scores: Sequence[_Score]) -> Iterator[str]:
    """A block for each language with one line per objective. Where all tasks are too wide for a line, the block has
    a section with means over tasks, and one for each task."""
    tasks = [task for task in results.main_tasks if any(score.task == task for score in scores)]
    names = {name: results.objective_title(name) for name in results.objectives}
    margin = max(2 + max(map(len, names.values())), *(len(results.transform_title(it)) for it in results.transforms))
    for language in results.transforms:
        by_task = {task: _columns([s for s in scores if (s.language, s.task) == (language, task)]) for task in tasks}
        aligned = _columns([score for score in scores if (score.language, score.task) == (language, "")])
        title, columns = results.transform_title(language), [*chain(*by_task.values()), *aligned]
        narrow = margin + CELL * len(columns) <= WIDTH
        sections = [columns] if narrow else [[*_over(list(by_task.values())), *aligned], *by_task.values()]
        yield "\n".join(_block(title, sections, names, margin))
    seeds = len(results.seeds)
    lines = [f"In percent, means over {seeds} seeds." if seeds > 1 else "In percent, one seed, so no value is best."]
    if seeds > 1:
        lines.append(_wrapped(f"{STAR} {BEST}"))
    if any(score.at_floor for score in scores):
        lines.append(f"{AT_FLOOR} at the floor: not above a baseline that cannot transfer")
    yield "\n".join(lines)


def _columns(scores: Sequence[_Score]) -> list[_Column]:
    """The columns of one task in one language, or of alignment."""
    heads = [head for head in (*SIDES, *TYPES) if any(head in score.values for score in scores)]
    return [
        _Column(
            f"{task_title(scores[0].task)} {metric_title(PRIMARY[scores[0].task])}" if scores[0].task else ALIGNED,
            head,
            {score.objective: score.values[head] for score in scores if head in score.values},
            SIDES.get(head, +1),
            {score.objective for score in scores if score.at_floor and head == "ZS"},
        )
        for head in heads
    ]


def _over(tasks: Sequence[Sequence[_Column]]) -> Iterator[_Column]:
    """The means over tasks of each measure, for the objectives that have all."""
    for columns in zip(*tasks, strict=True):
        objectives = [name for name in columns[0].values if all(name in column.values for column in columns)]
        values = {name: average([column.values[name] for column in columns]) for name in objectives}
        floors = set.intersection(*(set(column.at_floor) for column in columns))
        yield _Column(f"mean of {len(tasks)} tasks", columns[0].head, values, columns[0].side, floors)


def _block(title: str, sections: Sequence[Sequence[_Column]], names: Mapping[str, str], margin: int) -> Iterator[str]:
    """The lines of a language: one section under the groups of its columns, or several, each below its own."""
    groups = Counter(column.group for column in sections[0])
    if len(sections) == 1:
        yield " " * margin + "".join(f"{group} ".rjust(CELL * many) for group, many in groups.items()).rstrip()
    else:
        margin = max(margin, len(title) + 1)
    yield title.ljust(margin) + "".join(f"{_HEADS.get(c.head, c.head)} ".rjust(CELL) for c in sections[0]).rstrip()
    for columns in sections:
        if len(sections) > 1:
            yield " " + ", ".join(dict.fromkeys(column.group for column in columns))
        for name, full in names.items():
            if any(name in column.values for column in columns):
                yield f"  {full}".ljust(margin) + "".join(c.cell(name).rjust(CELL) for c in columns).rstrip()


def _fitted(table: Table) -> list[str]:
    """A table without published rows and floors, split into groups of columns that fit the width."""
    rows = [row for i, row in enumerate(table.rows) if i not in table.published and FLOOR not in row[: table.labels]]
    whole = [[cell.translate(ASCII) for cell in row] for row in (table.header, *rows)]
    widths = [min(WIDTH // 3, max(len(row[i]) for row in whole)) for i in range(len(table.header))]
    labels, lines, place = range(table.labels), list[str](), table.labels
    while place < len(widths):
        chosen, end = [*labels, place], place + 1
        while end < len(widths) and sum(widths[i] + 2 for i in (*chosen, end)) <= WIDTH:
            chosen, end = [*chosen, end], end + 1
        lines += [""] if lines else []
        lines += ["  ".join(row[i][: widths[i]].ljust(widths[i]) for i in chosen).rstrip()[:WIDTH] for row in whole]
        place = end
    return lines
