"""Whether what an objective is told of two languages gains it anything over MLM, with the same budget."""

from __future__ import annotations

from functools import partial

from analysis.papers.align_mlm.claims import correlated
from analysis.papers.equal_terms.means import PLAIN, others, over_tasks
from analysis.results.apart import apart
from analysis.results.claim import Claim
from analysis.results.results import Results
from analysis.statistics.verdicts import Verdict
from analysis.tasks.catalog import PRIMARY, task_title

OURS = "ours: no paper compares them all"
TRANSFER, ALIGNED, RHO = "transfer", "alignment", "correlation"
"""The families of claims."""


def equal_terms_claims(results: Results) -> list[Claim]:
    """Each objective against MLM by its zero-shot scores and by held-out alignment, and whether these go together."""
    tasks = [task for task in results.tasks if task in PRIMARY]
    claims = []
    for transform in results.transforms:
        under, plain = f"under {results.transform_title(transform)}", results.objective_title(PLAIN)
        for objective in others(results):
            title = results.objective_title(objective)
            claims += [
                Claim(
                    f"{title} transfers better than {plain} {under}: ZS, mean of {len(tasks)} tasks",
                    OURS,
                    TRANSFER,
                    partial(_transfers, objective=objective, transform=transform),
                ),
                Claim(
                    f"{title} aligns more of the held-out types than {plain} {under}",
                    OURS,
                    ALIGNED,
                    partial(_aligns, objective=objective, transform=transform),
                ),
            ]
    return claims + [
        Claim(
            f"What aligns more types loses less on {task_title(task)}: ρ > 0 between alignment and −Δ",
            "after ALIGN-MLM, section 5",
            RHO,
            partial(correlated, task=task, metric=PRIMARY[task], least=0.0),
        )
        for task in tasks
    ]


def _transfers(results: Results, objective: str, transform: str) -> Verdict:
    ours, theirs = (over_tasks(results, name, transform) for name in (objective, PLAIN))
    return apart(ours, theirs, +1)


def _aligns(results: Results, objective: str, transform: str) -> Verdict:
    ours, theirs = (results.alignments(name, transform, "held-out") for name in (objective, PLAIN))
    return apart(ours, theirs, +1)
