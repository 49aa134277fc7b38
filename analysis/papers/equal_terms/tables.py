"""One row an objective: what it carries over on each task, and what it aligned."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from analysis.papers.align_mlm.diagnostics_table import diagnostics_tables
from analysis.papers.align_mlm.tables import alignment_table, scores_table
from analysis.papers.equal_terms.means import over_tasks
from analysis.report.pos_units import units_note
from analysis.report.retained_cell import FLOOR
from analysis.report.table import MISSING, OURS, Table, cell, over_seeds, percent
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


def equal_terms_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """The table of objectives, then scores in full and alignment as ALIGN-MLM has them."""
    yield "objectives", objectives_table(results, scale)
    yield "scores", scores_table(results, scale)
    yield "alignment", alignment_table(results, scale)
    yield from diagnostics_tables(results, scale)


def objectives_table(results: Results, scale: str) -> Table:
    """ZS of every objective on every task, their mean, and alignment@1, above the strongest baseline of words."""
    tasks = [task for task in results.tasks if task in PRIMARY]
    rows: list[tuple[str, ...]] = []
    for transform in results.transforms:
        title = results.transform_title(transform)
        for objective in results.objectives:
            scores = [mean(results.scores("ZS", objective, transform, task, PRIMARY[task])) for task in tasks]
            together = [mean(over_tasks(results, objective, transform, measure)) for measure in ("ZS", "SUP")]
            aligned = [mean(results.alignments(objective, transform, kind)) for kind in ("held-out", "all")]
            name = results.objective_title(objective)
            rows.append((name, title, OURS, *map(cell, scores), *map(cell, together), *map(cell, aligned)))
        low = [results.floors.highest(task, PRIMARY[task], transform, results.source) for task in tasks]
        if known := [floor.value for floor in low if floor]:
            average = percent(fmean(known)) if len(known) == len(tasks) else MISSING
            cells = (percent(floor.value) if floor else MISSING for floor in low)
            rows.append(("strongest baseline of words", title, FLOOR, *cells, average, MISSING, MISSING, MISSING))
    heads = (f"{task_title(task)} {metric_title(PRIMARY[task])}" for task in tasks)
    surface = " ".join(_seen_on_the_surface(results))
    return Table(
        f"Zero-shot scores (ZS) of every objective, percent, {scale}",
        (
            "objective",
            "transform",
            "source",
            *heads,
            "ZS, mean of tasks",
            "SUP, mean of tasks",
            "alignment@1, held-out",
            "alignment@1, all",
        ),
        tuple(rows),
        f"{over_seeds(results.seeds, results.redrawn)}. Tasks count alike in a mean. A floor learns from the source "
        f"and is tested in the derived language. {units_note(results.records, tasks)}{surface}".rstrip(),
        frozenset(),
        results.run_ids(),
        labels=3,
    )


def _seen_on_the_surface(results: Results) -> Iterator[str]:
    """Tasks that shallow features learn in a derived language as well as models do.

    A reordering moves the words of two texts, and how alike these are then may tell their label where it did not.
    """
    for transform in results.transforms:
        for task in (task for task in results.tasks if task in PRIMARY):
            shallow = results.floors.highest(task, PRIMARY[task], transform, transform, surface=True)
            every = (mean(results.scores("SUP", name, transform, task, PRIMARY[task])) for name in results.objectives)
            scores = [score.mean for score in every if score]
            if shallow and (low := [score for score in scores if score <= shallow.value]):
                yield (
                    f"{task_title(task)} under {results.transform_title(transform)}: shallow features that learn it "
                    f"there reach {percent(shallow.value)}, and SUP of {len(low)} of {len(scores)} objectives no more, "
                    "so SUP and Δ say little of what is understood."
                )
