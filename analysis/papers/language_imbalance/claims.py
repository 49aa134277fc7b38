"""Schäfer et al.'s headlines on clones of a language, tested as claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Set
from functools import partial

from analysis.papers.language_imbalance.conditions import (
    Condition,
    Efficiencies,
    Pair,
    Way,
    alone,
    between,
    conditions,
    contrasts,
    curves,
    efficiencies,
    homeward,
    outward,
)
from analysis.results.apart import apart
from analysis.results.claim import Claim
from analysis.results.measured import difference, mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.statistics.verdicts import FAILS, UNDECIDED, Comparison, Verdict, judge
from analysis.tasks.catalog import PRIMARY, task_title

EFFICIENCY, TRANSFER, ALIGNED = "token efficiency", "transfer", "alignment"
"""The families of claims."""
PAPER = "cloned languages; there 2.08 at 90/10 and 0.89 at 50/50"
STEPS = "ours: in as many steps, of fewer rows"
MORE = "cloned languages; there 3.56 with nine clones and 2.08 with one"
OURS = "ours; the paper finds representations more alike where shares are unequal"
BEYOND = "beyond the budgets of the language alone"


def imbalance_claims(results: Results) -> list[Claim]:
    """The headlines for the mixtures and objectives that the records have."""
    return [claim for objective in results.objectives for claim in _claims(results, objective)]


def _claims(results: Results, objective: str) -> Iterator[Claim]:
    by = results.objective_title(objective)
    if alone(results):
        for condition in (condition for condition in conditions(results) if condition.unequal):
            yield Claim(
                f"{by}: the token efficiency of the small is above 1 at {_title(condition)}",
                PAPER,
                EFFICIENCY,
                partial(_above_one, condition=condition, objective=objective, way="steps"),
            )
            if curves(results, "batch"):
                yield Claim(
                    f"{by}: the token efficiency of the small is above 1 at {_title(condition)}, against a language "
                    "alone that takes as many steps",
                    STEPS,
                    EFFICIENCY,
                    partial(_above_one, condition=condition, objective=objective, way="batch"),
                )
        for equal, unequal in contrasts(results):
            yield Claim(
                f"{by}: token efficiency of the small is higher at {_title(unequal)} than at {_title(equal)}",
                PAPER,
                EFFICIENCY,
                partial(_more_efficient, better=unequal, worse=equal, objective=objective),
            )
        unequals = sorted((c for c in conditions(results) if c.unequal), key=lambda c: len(c.languages))
        if len(unequals) > 1 and len(unequals[-1].languages) > len(unequals[0].languages):
            few, many = unequals[0], unequals[-1]
            yield Claim(
                f"{by}: token efficiency of the small is higher with {len(many.languages)} languages "
                f"({many.mixture.title}) than with {len(few.languages)} ({few.mixture.title})",
                MORE,
                EFFICIENCY,
                partial(_more_efficient, better=many, worse=few, objective=objective),
            )
    for equal, unequal in contrasts(results):
        for task in (task for task in PRIMARY if task in results.tasks):
            for way, words in ((outward, "to the small"), (homeward, "from the small")):
                yield Claim(
                    f"{by}: imbalance helps transfer {words} on {task_title(task)}: {_title(unequal)} against "
                    f"{equal.mixture.title}",
                    OURS,
                    TRANSFER,
                    partial(_further, unequal=unequal, equal=equal, way=way, objective=objective, task=task),
                )
        yield Claim(
            f"{by}: imbalance aligns more held-out types, {_title(unequal)} against {equal.mixture.title}",
            OURS,
            ALIGNED,
            partial(_further, unequal=unequal, equal=equal, way=outward, objective=objective, task=""),
        )


def _title(condition: Condition) -> str:
    return condition.mixture.title


def _above_one(results: Results, condition: Condition, objective: str, way: Way) -> Verdict:
    numbers = efficiencies(results, condition, objective, condition.small, way)
    return _judged(mean(numbers.logs), times(mean(numbers.logs)), numbers.beyond)


def _more_efficient(results: Results, better: Condition, worse: Condition, objective: str) -> Verdict:
    ours, theirs = (efficiencies(results, each, objective, each.small) for each in (better, worse))
    return compared(ours, theirs)


def compared(ours: Efficiencies, theirs: Efficiencies) -> Verdict:
    """Whether one token efficiency is higher than another; undecided where the end of a curve could have made it so."""
    gap = difference(ours.logs, theirs.logs)
    return _judged(gap, times(gap, " as high"), ours.beyond | {-side for side in theirs.beyond})


def _judged(estimate: Estimate | None, because: str, beyond: Set[int]) -> Verdict:
    """Whether a logarithm is above 0, which is at least (`beyond` +1) or at most (-1) what it is known to be.

    What may be lower does not let the claim hold, and what may be higher does not let it fail.
    """
    if -1 in beyond:
        return Verdict(UNDECIDED, BEYOND)
    made = judge([Comparison(estimate, 0.0, +1)] if estimate else [], because if estimate else "")
    return Verdict(UNDECIDED, BEYOND) if made.verdict == FAILS and 1 in beyond else made


def _further(
    results: Results,
    unequal: Condition,
    equal: Condition,
    way: Callable[[Condition], list[Pair]],
    objective: str,
    task: str,
) -> Verdict:
    ours, theirs = (between(results, each, objective, way(each), task) for each in (unequal, equal))
    return apart(ours, theirs, +1)


def times(estimate: Estimate | None, what: str = "") -> str:
    """A logarithm as a ratio, with its interval."""
    if estimate is None:
        return ""
    said = f"{math.exp(estimate.mean):.2f} times{what}"
    if estimate.low is None or estimate.high is None:
        return f"{said}, {'one seed' if estimate.seeds == 1 else 'seeds that do not differ'}"
    interval = f"[{math.exp(estimate.low):.2f}, {math.exp(estimate.high):.2f}]"
    return f"{said}, 95 % interval {interval}, {estimate.seeds} seeds"
