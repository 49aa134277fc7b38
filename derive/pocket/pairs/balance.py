"""Weights of cases such that what can be seen of a pair without understanding it says nothing about its label.

A case is a premise and a hypothesis with their label. Iterative proportional fitting (Deming and Stephan 1940): in
turn, every view of the cases (the premise alone, the hypothesis alone, the outside of both) is scaled so that
each thing that is seen is equally frequent under every label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from derive.pocket.pairs.statement import Statement, label

ROUNDS = 200
T = TypeVar("T", bound=Any)
View = Callable[[Any], Hashable]


@dataclass(frozen=True)
class Case:
    """Two statements as one pair; `outside` is what they have in common with all pairs that look alike."""

    premise: Statement
    hypothesis: Statement
    outside: Hashable
    kind: str
    weight: float = 1.0

    @property
    def label(self) -> str:
        """What the premise says of the hypothesis."""
        return label(self.premise, self.hypothesis)


VIEWS: tuple[View, ...] = (
    lambda case: case.premise.seen_alone,
    lambda case: case.hypothesis.seen_alone,
    lambda case: case.outside,
)


def balanced(cases: Sequence[T], views: Sequence[View] = VIEWS, rounds: int = ROUNDS) -> list[T]:
    """The cases with new weights, of which each label has one; those that no weight can balance are left out.

    Cases are dataclasses with a `label` and a `weight`; of these, fitting changes the weight as little as it can.

    Raises:
        ValueError: none is left.
    """
    kept = _supported(cases, views)
    every = sorted({case.label for case in kept})
    weights = [case.weight for case in kept]
    labels = [case.label for case in kept]
    keys = [[view(case) for case in kept] for view in views]
    for _ in range(rounds):
        for column in keys:
            totals: defaultdict[tuple[Hashable, str], float] = defaultdict(float)
            for key, label_, weight in zip(column, labels, weights, strict=True):
                totals[key, label_] += weight
            means = {key: sum(totals[key, label_] for label_ in every) / len(every) for key in set(column)}
            weights = [w * means[key] / totals[key, la] for key, la, w in zip(column, labels, weights, strict=True)]
    whole = sum(weights) / len(every)
    return [replace(case, weight=weight / whole) for case, weight in zip(kept, weights, strict=True)]


def _supported(cases: Sequence[T], views: Sequence[View]) -> list[T]:
    """The cases of which everything that is seen can be seen under every label."""
    kept = list(cases)
    every = {case.label for case in cases}
    while True:
        bad = []
        for view in views:
            seen: defaultdict[Hashable, set[str]] = defaultdict(set)
            for case in kept:
                seen[view(case)].add(case.label)
            bad.append({key for key, labels in seen.items() if labels != every})
        if not any(bad):
            break
        kept = [case for case in kept if not any(view(case) in keys for view, keys in zip(views, bad, strict=True))]
    if not kept:
        raise ValueError("no weights make these cases look alike under every label")
    return kept
