"""Tables 3 and 8 of ALIGN-MLM, with the published numbers beside ours and marked as published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.records.record import ALIGNMENT
from analysis.report.pos_units import units_note
from analysis.report.retained_cell import FLOOR, NOTE, ROWS, floor_cell, retained_cell
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import PRIMARY, PRINTED, metric_title, task_title

ALIGNMENTS = ("all", "dictionary", "held-out", "frequency-weighted", "back")
RETAINED = "RETAINED"
HEADS = {"SUP": "SUP", "ZS": "ZS", "DELTA": "Δ", RETAINED: "retained"}
"""The measures of Table 3 as its head has them; the last where there are floors."""


def scores_table(results: Results, scale: str) -> Table:
    """Table 3 of ALIGN-MLM: SUP, ZS and Delta of every objective, transform and task, in percent.

    Where there are floors, with retained transfer, and with a row for each baseline.
    """
    columns = [(task, metric) for task in _tasks(results) for metric in _metrics(results, task)]
    shown = [name for name in HEADS if name != RETAINED or results.floors.all]
    header = [f"{task_title(t)} {metric_title(m)} {HEADS[name]}" for t, m in columns for name in shown]
    measures = [(task, metric, measure) for task, metric in columns for measure in shown]
    rows: list[tuple[str, ...]] = []
    published: set[int] = set()
    for objective in _objectives(results, 3):
        for transform in _transforms(results, 3):
            names = (objective, results.transform_title(transform))
            ours = [_score(results, measure, objective, transform, t, m) for t, m, measure in measures]
            theirs = [_printed(results, 3, measure, objective, transform, t, m) for t, m, measure in measures]
            _add(rows, published, names, ours, theirs)
    rows += _floors(results, measures)
    return Table(
        f"Table 3: supervised (SUP) and zero-shot (ZS) scores and their difference Δ, {scale}",
        ("objective", "transform", "source", *header),
        tuple(rows),
        _note(
            results,
            f"{ROWS} " * bool(results.floors.all)
            + "Published POS scores are F1 on bare tags; they stand under no other metric.",
        ),
        frozenset(published),
        _runs(results, ("SUP", "ZS")),
        labels=3,
    )


def alignment_table(results: Results, scale: str) -> Table:
    """Table 8 of ALIGN-MLM, with alignment@1 of each kind and Delta of each task, in percent."""
    tasks = _tasks(results)
    metrics = [PRIMARY[task] for task in tasks]
    header = [f"alignment@1 {metric}" for metric in ALIGNMENTS]
    shown = ["DELTA", *([RETAINED] if results.floors.all else [])]
    pairs = [(task, metric, measure) for task, metric in zip(tasks, metrics, strict=True) for measure in shown]
    header += [f"{task_title(task)} {metric_title(metric)} {HEADS[measure]}" for task, metric, measure in pairs]
    rows: list[tuple[str, ...]] = []
    published: set[int] = set()
    for objective in _objectives(results, 8):
        for transform in _transforms(results, 8):
            names = (objective, results.transform_title(transform))
            ours = [cell(mean(results.alignments(objective, transform, metric))) for metric in ALIGNMENTS]
            theirs = [_printed(results, 8, ALIGNMENT, objective, transform, "", metric) for metric in ALIGNMENTS]
            for task, metric, measure in pairs:
                ours.append(_score(results, measure, objective, transform, task, metric))
                theirs.append(_printed(results, 8, measure, objective, transform, task, metric))
            _add(rows, published, names, ours, theirs)
    return Table(
        f"Table 8: alignment@1 of word embeddings and transfer, {scale}",
        ("objective", "transform", "source", *header),
        tuple(rows),
        _note(results, "Table 8 prints Δ = 0.2 for XLM under Trans where Table 3 has −0.2; it is shown as printed."),
        frozenset(published),
        _runs(results, ("SUP", "ZS", ALIGNMENT)),
        labels=3,
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
        return cell(mean(results.deltas(objective, transform, task, metric)))
    if measure == RETAINED:
        return retained_cell(retained(results, objective, transform, task, metric))
    return cell(mean(results.scores(measure, objective, transform, task, metric)))


def _floors(results: Results, measures: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, ...]]:
    """A row for each baseline and transform: SUP is learnt in the derived language, ZS in the source."""
    for name, title in results.floors.baselines(results.tasks).items():
        for transform in results.transforms:
            learnt = {"SUP": transform, "ZS": results.source}
            cells = (
                floor_cell(results.floors.of(task, metric, transform, learnt.get(measure, "")).get(name))
                for task, metric, measure in measures
            )
            yield title, results.transform_title(transform), FLOOR, *cells


def _printed(results: Results, table: int, measure: str, objective: str, transform: str, task: str, metric: str) -> str:
    number = results.printed(table, measure, objective, transform, task, metric)
    return percent(number.value) if number else MISSING


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
    seeds = f"{over_seeds(results.seeds, results.redrawn)}"
    floors = f"{NOTE} " if results.floors.all else ""
    units = units_note(results.records, results.tasks)
    return f"Percent; ours: {seeds}. {floors}{units}{about} {MISSING}: not measured."


def _runs(results: Results, measures: Sequence[str]) -> tuple[str, ...]:
    return results.run_ids(measures)
