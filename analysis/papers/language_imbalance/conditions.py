"""Mixtures of a study with their languages, and numbers of the main language and of the others.

Token efficiency (Schaefer et al. 2024, "The Role of Language Imbalance in Cross-lingual Generalisation: Insights from
Cloned Language Experiments"): ids that a model of a language alone needs for the same loss, over the ids of the
language that the joint model read. Above 1, the other languages helped.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal

from analysis.records.record import ALIGNMENT, HELD_OUT, READ
from analysis.records.run import Described
from analysis.report.table import MISSING
from analysis.results.measured import BySeed, Measured, average, mean
from analysis.results.results import Results
from analysis.tasks.catalog import PRIMARY

IDS, LOSS = (READ, "ids"), (HELD_OUT, "nats")  # how many ids of a language a model has read, and its held-out loss
Pair = tuple[str, str]
Way = Literal["steps", "batch"]
"""How a language alone reads less: in fewer steps of as many rows, or in as many steps of fewer rows."""
SIDES = {1: "≥", -1: "≤"}
"""The sign before a ratio where the curve ended before it: it is at least, or at most, so large."""


@dataclass(frozen=True)
class Condition:
    """A mixture, and the names of its languages, the main one first.

    The others are called small, also where all have equal shares. `shares` are those of all steps, empty where shares
    change or follow from sizes.
    """

    mixture: Described
    languages: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def name(self) -> str:
        return self.mixture.name

    @property
    def title(self) -> str:
        return self.mixture.title

    @property
    def main(self) -> str:
        return self.languages[0]

    @property
    def small(self) -> tuple[str, ...]:
        return self.languages[1:]

    @property
    def label(self) -> str:
        """Its shares in short; equal ones are said once."""
        return f"{100 / len(self.languages):.3g} % each" if self.equal else self.title

    @property
    def small_label(self) -> str:
        """The share of one small language, where all have the same."""
        if not self.shares or len(set(self.shares[1:])) > 1:
            return self.title
        return f"{100 * self.shares[1] / sum(self.shares):.3g} %"

    @property
    def equal(self) -> bool:
        return bool(self.shares) and math.isclose(min(self.shares), max(self.shares))

    @property
    def unequal(self) -> bool:
        """Whether the first language has more than any other."""
        return bool(self.shares) and self.shares[0] > max(self.shares[1:])

    @property
    def outward(self) -> list[Pair]:
        return [(self.main, name) for name in self.small]

    @property
    def homeward(self) -> list[Pair]:
        return [(name, self.main) for name in self.small]

    @property
    def across(self) -> list[Pair]:
        return list(permutations(self.small, 2))


def conditions(results: Results) -> list[Condition]:
    """The mixtures of a study, in the order of its runs."""
    found: dict[str, Condition] = {}
    for run in results.runs.values():
        if run.mixture is not None and len(run.languages) > 1 and run.mixture.name not in found:
            phases = run.mixture.parts[0]["phases"]
            shares = tuple(phases[0]["shares"]) if len(phases) == 1 else ()
            names = tuple(language.name for language in run.languages)
            found[run.mixture.name] = Condition(run.mixture, names, shares)
    return list(found.values())


def contrasts(results: Results) -> Iterator[tuple[Condition, Condition]]:
    """An equal mixture and an unequal one of as many languages, for each unequal one that has such a partner."""
    every = conditions(results)
    for unequal in (condition for condition in every if condition.unequal):
        for equal in (c for c in every if c.equal and c.languages == unequal.languages):
            yield equal, unequal


def alone(results: Results) -> str | None:
    """The objective of the models that read the source alone; None where there are none."""
    runs = (run for run in results.runs.values() if len(run.languages) == 1)
    return next((run.objective.name for run in runs if run.objective), None)


def budgets(results: Results, way: Way) -> list[tuple[BySeed, BySeed]]:
    """The ids that models of the source alone have read, and their held-out loss, by budget, ascending."""
    objective = alone(results)
    if objective is None:
        return []
    read, nats = (results.growth(objective, "source", metric, measure) for measure, metric in (IDS, LOSS))
    by_steps = [(read[step], nats[step]) for step in nats]
    if way == "steps":
        return by_steps
    mixtures = [run.mixture for run in results.runs.values() if len(run.languages) == 1 and run.mixture]
    thinner: list[tuple[BySeed, BySeed]] = []
    for name in dict.fromkeys(mixture.name for mixture in mixtures):
        ids, loss = (results.scores(of, objective, "source", "", metric, mixture=name) for of, metric in (IDS, LOSS))
        thinner.append((ids, loss))
    return [*thinner, *by_steps[-1:]] if thinner else []


def measured(
    results: Results,
    condition: Condition,
    objective: str,
    languages: Sequence[str],
    number: tuple[str, str],
    task: str = "",
) -> BySeed:
    """Each seed's number, a measure and its metric, in the mean of some languages that are learnt and tested."""
    measure, metric = number
    scores = (results.scores(measure, objective, name, task, metric, mixture=condition.name) for name in languages)
    return average(list(scores))


def between(results: Results, condition: Condition, objective: str, pairs: Sequence[Pair], task: str = "") -> BySeed:
    """The mean over ordered pairs: of zero-shot scores of a task, or without one of held-out alignment@1."""
    measure, metric = ("ZS", PRIMARY[task]) if task else (ALIGNMENT, "held-out")
    named = [("" if first == condition.main else first, second) for first, second in pairs]
    how = {"mixture": condition.name}
    return average([results.scores(measure, objective, b, task, metric, first=a, **how) for a, b in named])


@dataclass(frozen=True)
class Curve:
    """The held-out loss of models that read a language alone: (ids, loss), ascending by ids."""

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        ids = [ids for ids, _ in self.points]
        if len(ids) < 2 or ids != sorted(set(ids)) or ids[0] <= 0:
            raise ValueError(f"a curve has two points at least, of ascending numbers of ids above 0, not {ids}")

    def ids(self, loss: float) -> tuple[float, int]:
        """The fewest ids after which the loss is no higher.

        Between two points the loss is taken to fall in proportion to the logarithm of the ids. Nothing is extrapolated:
        the curve's end stands for what is beyond it, and the second number says on which side (more: +1, fewer: -1).
        """
        first, highest = self.points[0]
        if loss > highest:
            return first, -1
        for (a, before), (b, after) in pairwise(self.points):
            if after <= loss <= before:
                along = (before - loss) / (before - after) if before > after else 0.0
                return a * (b / a) ** along, 0
        return self.points[-1][0], 1


def curves(results: Results, way: Way = "steps") -> dict[int, Curve]:
    """Each seed's held-out loss of the source alone by the ids that were read, where it has two budgets or more."""
    points: dict[int, list[tuple[float, float]]] = {}
    for read, nats in budgets(results, way):
        for seed, loss in nats.items():
            points.setdefault(seed, []).append((read[seed].value, loss.value))
    return {seed: Curve(tuple(sorted(own))) for seed, own in points.items() if len(own) > 1}


@dataclass(frozen=True)
class Efficiencies:
    """Logarithms of token efficiency, a number a seed: means over languages. `beyond` are the sides on which curves
    ended before any of them."""

    logs: BySeed
    beyond: frozenset[int]

    def __str__(self) -> str:
        """The geometric mean over seeds and its interval."""
        estimate = mean(self.logs)
        if estimate is None:
            return MISSING
        ratio = f"{''.join(SIDES[side] for side in sorted(self.beyond))}{math.exp(estimate.mean):.2f}"
        if estimate.interval is None:
            return ratio
        low, high = map(math.exp, estimate.interval)
        return f"{ratio} [{low:.2f}, {high:.2f}]"


def efficiencies(
    results: Results, condition: Condition, objective: str, languages: Sequence[str], way: Way = "steps"
) -> Efficiencies:
    """The token efficiency of some languages of a mixture, for the seeds that have a curve."""
    ratios: dict[int, list[float]] = {}
    by_seed, beyond = curves(results, way), set[int]()
    for language in languages:
        read, loss_of = (measured(results, condition, objective, [language], number) for number in (IDS, LOSS))
        for seed, loss in loss_of.items():
            if seed in by_seed:
                ids, side = by_seed[seed].ids(loss.value)
                ratios.setdefault(seed, []).append(ids / read[seed].value)
                beyond.add(side)
    logs = {
        seed: Measured(sum(map(math.log, each)) / len(each), None, low=-math.inf, high=math.inf)
        for seed, each in ratios.items()
    }
    return Efficiencies(logs, frozenset(beyond - {0}))
