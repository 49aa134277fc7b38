"""XLM-Align's headlines, and the question that it leaves open, tested as claims."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from analysis.papers.xlm_align.ablations import errors
from analysis.papers.xlm_align.variants import after, starts, variant
from analysis.records.record import LABELS
from analysis.records.run import Start
from analysis.results.apart import apart, beyond
from analysis.results.claim import Claim
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results
from analysis.statistics.verdicts import Verdict
from analysis.tasks.catalog import PRIMARY, task_title

MOST = 0.5
"""Self-labelling works when most labels are right."""
PARTS: dict[str, dict[str, Any]] = {
    "DWA": {"queries": "none"},
    "TLM": {"tlm": False},
    "filtering": {"filtering": False},
}
"""What the paper finds to help, and the switches that leave it out."""
OURS = "ours: the paper has neither gold labels nor another start"
SECTION_6 = "ours; in section 6 it does “not work very well” from scratch, for want of good labels"
TABLE_2 = "Table 2 and Figure 2, where it goes on from XLM-R"
LABELLING, ERRORS, TRANSFER = "self-labels", "AER", "zero-shot transfer"
"""The families of claims."""


def above(results: Results, objective: str, transform: str, bound: float) -> Verdict:
    """Whether the precision of an objective's labels is above a bound."""
    return beyond(mean(precision(results, objective, transform)), +1, bound)


def precision(results: Results, objective: str, transform: str) -> BySeed:
    """Of the labels of the last steps."""
    return results.scores(LABELS, objective, transform, "", "precision")


def xlm_align_claims(results: Results) -> list[Claim]:
    """The headlines for the objectives and transforms that the records have."""
    return [
        claim
        for transform in results.transforms
        for start in starts(results)
        for claim in (*_labelling(results, transform, start), *_parts(results, transform, start))
    ]


def _labelling(results: Results, transform: str, start: Start | None) -> Iterator[Claim]:
    whole, cold = variant(results, start), variant(results, None)
    assert whole is not None  # it is where `starts` has the start from
    under = f"under {results.transform_title(transform)}"
    title = results.objective_title
    yield Claim(
        f"Most of the labels of {title(whole)} are right in the end, {under}",
        OURS if start else SECTION_6,
        LABELLING,
        partial(above, objective=whole, transform=transform, bound=MOST),
    )
    if start and cold is not None:
        yield Claim(
            f"More of the labels of {title(whole)} are right than of {title(cold)}, {under}",
            OURS,
            LABELLING,
            lambda results: apart(precision(results, whole, transform), precision(results, cold, transform), +1),
        )
    golds = [variant(results, begun, labels="gold") for begun in ([None, start] if start else [None])]
    first = start.objective.name if start and start.objective.name in results.objectives else None
    rivals = [(whole, cold), (whole, first), *((gold, whole) for gold in golds)]
    for better, worse in rivals:
        if better is not None and worse is not None and better != worse:
            yield Claim(
                f"{title(better)} has a lower AER than {title(worse)}, {under}",
                OURS,
                ERRORS,
                partial(_lower_error, better=better, worse=worse, transform=transform),
            )


def _parts(results: Results, transform: str, start: Start | None) -> Iterator[Claim]:
    whole, under = variant(results, start), f"under {results.transform_title(transform)}"
    assert whole is not None
    for part, switches in PARTS.items():
        without = variant(results, start, **switches)
        if without is None:
            continue
        yield Claim(
            f"With {part}{after(start)} the AER is lower than without, {under}",
            TABLE_2,
            ERRORS,
            partial(_lower_error, better=whole, worse=without, transform=transform),
        )
        for task in (task for task in PRIMARY if task in results.tasks):
            yield Claim(
                f"{part[0].upper()}{part[1:]} helps{after(start)} on {task_title(task)}, zero-shot, {under}",
                "Table 6" if part == "filtering" else "Table 3",
                TRANSFER,
                partial(_higher_score, better=whole, worse=without, transform=transform, task=task),
            )


def _lower_error(results: Results, better: str, worse: str, transform: str) -> Verdict:
    return apart(errors(results, better, transform), errors(results, worse, transform), -1)


def _higher_score(results: Results, better: str, worse: str, transform: str, task: str) -> Verdict:
    ours, theirs = (results.scores("ZS", name, transform, task, PRIMARY[task]) for name in (better, worse))
    return apart(ours, theirs, +1)
