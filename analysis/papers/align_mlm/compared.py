"""The metrics of figures that show the paper's numbers beside ours."""

from __future__ import annotations

from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY, PRINTED


def compared_metrics(results: Results) -> dict[str, str]:
    """The metric of each task that was measured: the paper's, where its numbers are at hand, else our primary one."""
    known = {(p.task, p.metric) for p in results.published if (p.table, p.measure) == (3, "DELTA")}
    return {
        task: PRINTED[task] if (task, PRINTED[task]) in known else metric
        for task, metric in PRIMARY.items()
        if task in results.tasks
    }
