"""Tables made of records, with the published numbers beside ours and marked as published."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.papers.align_mlm.claims import Claim
from analysis.records.record import ALIGNMENT
from analysis.records.results import PRIMARY, PRINTED, BySeed, Results, mean, metric_name, task_name, transform_name

MISSING = "–"
OURS, PUBLISHED = "ours", "published"
ALIGNMENTS = ("all", "dictionary", "held-out", "frequency-weighted", "back")


@dataclass(frozen=True)
class Table:
    """Text cells under a header; `published` are the numbers of the rows that are a paper's.

    `runs` are the runs that the table shows.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    published: frozenset[int] = frozenset()
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{len(row)} cells under {len(self.header)} heads: {row}")

    @property
    def markdown(self) -> str:
        """For a terminal or a README: columns padded to line up."""
        lines = [self.header, *self.rows]
        wide = [max(len(row[i]) for row in lines) for i in range(len(self.header))]
        text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)) + " |" for row in lines]
        rule = "|" + "|".join("-" * (w + 2) for w in wide) + "|"
        return (
            "\n".join([f"**{self.title}**", "", text[0], rule, *text[1:], *(["", self.note] if self.note else [])])
            + "\n"
        )

    @property
    def html(self) -> str:
        """A table element in a box that scrolls sideways on a narrow screen."""
        head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in self.header)
        body = "\n".join(
            f"<tr{' class=published' if i in self.published else ''}>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            + "</tr>"
            for i, row in enumerate(self.rows)
        )
        note = f"<p class=note>{html.escape(self.note)}</p>" if self.note else ""
        return (
            f"<div class=scroll><table><caption>{html.escape(self.title)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{note}"
        )

    @property
    def csv(self) -> str:
        """Comma-separated values, the header first."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()


def scores_table(results: Results, scale: str) -> Table:
    """Table 3 of ALIGN-MLM: SUP, ZS and Delta of every objective, transform and task, in percent."""
    columns = [(task, metric) for task in _tasks(results) for metric in _metrics(results, task)]
    header = [f"{task_name(t)} {metric_name(m)} {name}" for t, m in columns for name in ("SUP", "ZS", "Δ")]
    measures = [(task, metric, measure) for task, metric in columns for measure in ("SUP", "ZS", "DELTA")]
    rows: list[tuple[str, ...]] = []
    published: set[int] = set()
    for objective in _objectives(results, 3):
        for transform in _transforms(results, 3):
            names = (objective, transform_name(transform))
            ours = [_score(results, measure, objective, transform, t, m) for t, m, measure in measures]
            theirs = [_printed(results, 3, measure, objective, transform, t, m) for t, m, measure in measures]
            _add(rows, published, names, ours, theirs)
    return Table(
        f"Table 3: supervised (SUP) and zero-shot (ZS) scores and their difference Δ, {scale}",
        ("objective", "transform", "whose", *header),
        tuple(rows),
        _note(results, "Published POS scores are F1 on bare tags; they stand under no other metric."),
        frozenset(published),
        _runs(results, ("SUP", "ZS")),
    )


def alignment_table(results: Results, scale: str) -> Table:
    """Table 8 of ALIGN-MLM, with alignment@1 of each kind and Delta of each task, in percent."""
    tasks = _tasks(results)
    metrics = [PRIMARY[task] for task in tasks]
    header = [f"alignment@1 {metric}" for metric in ALIGNMENTS]
    header += [f"{task_name(task)} {metric_name(metric)} Δ" for task, metric in zip(tasks, metrics, strict=True)]
    rows: list[tuple[str, ...]] = []
    published: set[int] = set()
    for objective in _objectives(results, 8):
        for transform in _transforms(results, 8):
            names = (objective, transform_name(transform))
            ours = [cell(results.alignments(objective, transform, metric)) for metric in ALIGNMENTS]
            theirs = [_printed(results, 8, ALIGNMENT, objective, transform, "", metric) for metric in ALIGNMENTS]
            for task, metric in zip(tasks, metrics, strict=True):
                ours.append(cell(results.deltas(objective, transform, task, metric)))
                theirs.append(_printed(results, 8, "DELTA", objective, transform, task, metric))
            _add(rows, published, names, ours, theirs)
    return Table(
        f"Table 8: alignment@1 of word embeddings and transfer, {scale}",
        ("objective", "transform", "whose", *header),
        tuple(rows),
        _note(results, "Table 8 prints Δ = 0.2 for XLM under Trans where Table 3 has −0.2; it is shown as printed."),
        frozenset(published),
        _runs(results, ("SUP", "ZS", ALIGNMENT)),
    )


def claims_table(results: Results, claims: Sequence[Claim], scale: str) -> Table:
    """Each headline with its verdict and the number that it rests on."""
    verdicts = [(claim, claim.test(results)) for claim in claims]
    return Table(
        f"The paper’s headlines, tested, {scale}",
        ("claim", "verdict", "because", "where"),
        tuple((claim.text, found.verdict, found.because, claim.where) for claim, found in verdicts),
        "Holds or does not hold: the whole 95 % interval lies on that side; undecided: it does not, or there are no "
        "records. With one seed the interval covers the draw of test items only, and says nothing of other seeds.",
        runs=tuple(results.runs),
    )


def _add(
    rows: list[tuple[str, ...]], published: set[int], names: tuple[str, str], ours: list[str], theirs: list[str]
) -> None:
    """Our row where we have a number, the paper's where it has one."""
    if any(cell != MISSING for cell in ours):
        rows.append((*names, OURS, *ours))
    if any(cell != MISSING for cell in theirs):
        published.add(len(rows))
        rows.append((*names, PUBLISHED, *theirs))


def _score(results: Results, measure: str, objective: str, transform: str, task: str, metric: str) -> str:
    if measure == "DELTA":
        return cell(results.deltas(objective, transform, task, metric))
    return cell(results.scores(measure, objective, transform, task, metric))


def cell(values: BySeed) -> str:
    """Percent, with the half-width of the interval over seeds where there are several."""
    found = mean(values)
    if found is None:
        return MISSING
    return percent(found.mean) + (f" ± {100 * found.half:.1f}" if found.half is not None and found.seeds > 1 else "")


def _printed(results: Results, table: int, measure: str, objective: str, transform: str, task: str, metric: str) -> str:
    found = results.printed(table, measure, objective, transform, task, metric)
    return percent(found.value) if found else MISSING


def percent(share: float) -> str:
    """A share in percent, to one digit; what rounds to nothing has no sign."""
    return f"{100 * share + 0.0:.1f}".replace("-0.0", "0.0").replace("-", "−")


def _tasks(results: Results) -> list[str]:
    return [task for task in PRIMARY if task in results.tasks]


def _metrics(results: Results, task: str) -> list[str]:
    """The primary metric, and the one that the paper prints where it is another."""
    return list(dict.fromkeys((PRIMARY[task], PRINTED[task])))


def _objectives(results: Results, table: int) -> list[str]:
    """Ours and the paper's, so that what we lack is seen to be missing."""
    return list(dict.fromkeys([*results.objectives, *(p.objective for p in results.published if p.table == table)]))


def _transforms(results: Results, table: int) -> list[str]:
    return list(dict.fromkeys([*results.transforms, *(p.transform for p in results.published if p.table == table)]))


def _note(results: Results, about: str) -> str:
    n = len(results.seeds)
    seeds = f"{n} seeds, mean ± half the 95 % interval over seeds" if n > 1 else f"{n} seed, so no interval"
    return f"Percent; ours: {seeds} (seeds {', '.join(map(str, results.seeds))}). {about} {MISSING}: not measured."


def _runs(results: Results, measures: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({record.run for record in results.records if record.measure in measures}))
