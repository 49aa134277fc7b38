"""Mixtures of a study with their languages, and numbers for the main language and the others. Token efficiency
(Schaefer et al. 2024, "The Role of Language Imbalance in Cross-lingual Generalisation: Insights from Cloned Language
Experiments"): ids that a monolingual model needs for the same loss, over the ids of the language that the joint model
read. Above 1, the other languages helped."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Literal

from calque.analysis.records.record import ALIGNMENT, HELD_OUT, READ
from calque.analysis.report.table import MISSING
from calque.analysis.results.measured import BySeed, Measured, average, mean
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import PRIMARY

IDS, LOSS = (READ, "ids"), (HELD_OUT, "nats")  # the ids of a language that a model has read, and its held-out loss
Pair = tuple[str, str]
Way = Literal["steps", "batch"]  # how a monolingual model reads less: in fewer steps, or in smaller batches
SIDES = {1: "≥", -1: "≤"}  # the sign before a ratio beyond the end of the curve, which is its lower or upper bound
Curve = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Condition:
    """A mixture of a study, with the names of its main language and of the others, which are called small. `shares`,
    the main language's first, are empty if they change over steps or follow from sizes."""

    results: Results
    name: str
    title: str
    main: str
    small: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def size(self) -> int:
        """The number of languages."""
        return 1 + len(self.small)

    @property
    def equal(self) -> bool:
        return bool(self.shares) and math.isclose(min(self.shares), max(self.shares))

    @property
    def unequal(self) -> bool:
        """Whether the main language has more than any other."""
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

    def mean_of(self, objective: str, languages: Sequence[str], number: tuple[str, str], task: str = "") -> BySeed:
        """Each seed's mean of a number, a measure and its metric, over some languages, each learnt and tested."""
        measure, metric = number
        scores = [self.results.scores(measure, objective, name, task, metric, mixture=self.name) for name in languages]
        return average(scores)

    def between(self, objective: str, pairs: Sequence[Pair], task: str = "") -> BySeed:
        """The mean over ordered pairs of a task's zero-shot scores or, without a task, of held-out alignment@1."""
        measure, metric = ("ZS", PRIMARY[task]) if task else (ALIGNMENT, "held-out")
        scores = []
        for first, second in pairs:
            about = {"first": "" if first == self.main else first, "mixture": self.name}
            scores.append(self.results.scores(measure, objective, second, task, metric, **about))
        return average(scores)

    def efficiencies(self, objective: str, languages: Sequence[str], way: Way = "steps") -> "Efficiencies":
        """The token efficiency of some of its languages, for the seeds that have a curve."""
        logs, beyond, by_seed = defaultdict[int, list[float]](list), set[int](), curves(self.results, way)
        for language in languages:
            read, losses = (self.mean_of(objective, [language], number) for number in (IDS, LOSS))
            for seed in (seed for seed in losses if seed in by_seed):
                ids, side = ids_until(by_seed[seed], losses[seed].value)
                logs[seed].append(math.log(ids / read[seed].value))
                beyond.add(side)
        means = {seed: sum(each) / len(each) for seed, each in logs.items()}
        numbers = {seed: Measured(value, None, low=-math.inf, high=math.inf) for seed, value in means.items()}
        return Efficiencies(numbers, frozenset(beyond - {0}))


@dataclass(frozen=True)
class Efficiencies:
    """Logarithms of token efficiency by seed, means over languages. `beyond` are the sides of too short curves."""

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


def conditions(results: Results) -> list[Condition]:
    """The mixtures of a study, in the order of its runs."""
    found: dict[str, Condition] = {}
    for run in results.runs.values():
        if (mixture := run.mixture) and len(run.languages) > 1 and mixture.name not in found:
            phases = mixture.parts[0]["phases"]
            shares = tuple(phases[0]["shares"]) if len(phases) == 1 else ()
            main, *small = (language.name for language in run.languages)
            found[mixture.name] = Condition(results, mixture.name, mixture.title, main, tuple(small), shares)
    return list(found.values())


def contrasts(results: Results) -> Iterator[tuple[Condition, Condition]]:
    """Every pair of an equal and an unequal mixture of the same languages."""
    every = conditions(results)
    for unequal in (condition for condition in every if condition.unequal):
        for equal in (condition for condition in every if condition.equal and condition.small == unequal.small):
            yield equal, unequal


def alone(results: Results) -> str | None:
    """The objective of the models that read the source alone, if any."""
    runs = (run for run in results.runs.values() if len(run.languages) == 1)
    return next((run.objective.name for run in runs if run.objective), None)


def budgets(results: Results, way: Way) -> list[tuple[BySeed, BySeed]]:
    """The ids that models of the source alone have read, and their held-out loss, by ascending budget."""
    objective = alone(results)
    if objective is None:
        return []
    read, nats = (results.growth(objective, "source", metric, measure) for measure, metric in (IDS, LOSS))
    by_steps = [(read[step], nats[step]) for step in nats]
    if way == "steps":
        return by_steps
    mixtures = [run.mixture.name for run in results.runs.values() if len(run.languages) == 1 and run.mixture]
    thinner: list[tuple[BySeed, BySeed]] = []
    for name in dict.fromkeys(mixtures):
        ids, loss = (results.scores(of, objective, "source", "", metric, mixture=name) for of, metric in (IDS, LOSS))
        thinner.append((ids, loss))
    return [*thinner, *by_steps[-1:]] if thinner else []


def curves(results: Results, way: Way = "steps") -> dict[int, Curve]:
    """The held-out loss of the source alone by ids read, for each seed with two budgets or more."""
    points = defaultdict[int, list[tuple[float, float]]](list)
    for read, nats in budgets(results, way):
        for seed, loss in nats.items():
            points[seed].append((read[seed].value, loss.value))
    return {seed: sorted(own) for seed, own in points.items() if len(own) > 1}


def ids_until(curve: Curve, loss: float) -> tuple[float, int]:
    """The fewest ids after which a monolingual model reaches a loss, from (ids, loss) ascending by ids, interpolated
    linearly in the logarithm of the ids. Nothing is extrapolated: beyond the curve its end is returned, and the second
    number is the side (more: +1, fewer: -1)."""
    first, highest = curve[0]
    if loss > highest:
        return first, -1
    for (a, before), (b, after) in pairwise(curve):
        if after <= loss <= before:
            along = (before - loss) / (before - after) if before > after else 0.0
            return a * (b / a) ** along, 0
    return curve[-1][0], 1
