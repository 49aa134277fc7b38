"""SUP and ZS apart by what the examples of a task try, where they say it; no paper has these numbers."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.table import MISSING, Table, cell, over_seeds
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, metric_title, task_title
from analysis.tasks.score import OF

MEASURES = ("SUP", "ZS")


def diagnostics_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """A table for each task whose examples say what they try, in percent, by the name of its file."""
    for task in results.tasks:
        if task not in PRIMARY:
            continue
        metric = PRIMARY[task]
        found = {r.metric for r in results.records if r.task == task and r.metric.startswith(metric + OF)}
        if not found:
            continue
        names = sorted(name.removeprefix(metric + OF) for name in found)
        rows = []
        for objective in results.objectives:
            for transform in results.transforms:
                for measure in MEASURES:
                    columns = [
                        results.scores(measure, objective, transform, task, f"{metric}{OF}{name}") for name in names
                    ]
                    if any(columns):
                        cells = (cell(mean(column)) for column in columns)
                        rows.append((objective, results.transform_title(transform), measure, *cells))
        yield (
            f"diagnostics-{task}",
            Table(
                f"{task_title(task)} by what pairs try: {metric_title(metric)}, {scale}",
                ("objective", "transform", "measure", *names),
                tuple(rows),
                f"Percent; {over_seeds(results.seeds, results.redrawn)}. {MISSING}: not measured.",
                runs=results.run_ids(MEASURES),
                labels=3,
            ),
        )
