"""Findings in one sentence each: the two best objectives by a number, and whether seeds separate them."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from calque.analysis.papers.align_mlm.figures import compared_metrics
from calque.analysis.papers.columns import score_title
from calque.analysis.report.table import percent
from calque.analysis.results.measured import BySeed, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import HOLDS, judge


class Ranking(NamedTuple):
    """The best two objectives by their means."""

    best: str
    value: float
    next: str
    next_value: float
    leads: bool


def ranked(values: Mapping[str, BySeed], side: int) -> Ranking | None:
    """Rank objectives by their numbers, the largest first (`side` +1) or the smallest (-1); None if fewer
    than two."""
    means = {objective: estimate.mean for objective, its in values.items() if (estimate := mean(its))}
    if len(means) < 2:
        return None
    first, second, *_ = order = sorted(means, key=lambda objective: -side * means[objective])
    leads = percent(means[first]) != percent(means[second])
    for other in order[1:]:
        gap = difference(values[first], values[other])
        leads &= gap is not None and judge([(gap, 0.0, side)], "").verdict == HOLDS
    return Ranking(first, means[first], second, means[second], leads)


def leader(results: Results, number: str, values: Mapping[str, BySeed], side: int) -> Iterator[str]:
    if ranking := ranked(values, side):
        best, following = (results.objective_title(name) for name in (ranking.best, ranking.next))
        noise = "one seed supports no conclusion" if len(results.seeds) < 2 else "within seed noise"
        certain = "beyond seed noise" if ranking.leads else noise
        first, second = percent(ranking.value), percent(ranking.next_value)
        word = "highest" if side > 0 else "lowest"
        yield f"{number}: {word} with {best}, {first} %, then {following}, {second} % ({certain})."


def transfer_findings(results: Results) -> Iterator[str]:
    """The objectives that lose least on each task, and align most, under the transform with the largest mean
    Δ."""
    metrics, losses = compared_metrics(results), dict[str, float]()
    for transform in results.transforms:
        cells = product(results.objectives, metrics.items())
        deltas = [mean(results.deltas(objective, transform, *metric)) for objective, metric in cells]
        if means := [delta.mean for delta in deltas if delta]:
            losses[transform] = sum(means) / len(means)
    if not losses:
        return
    hardest = max(losses, key=lambda transform: losses[transform])
    under = results.transform_title(hardest)
    for task, metric in metrics.items():
        deltas_of = {name: results.deltas(name, hardest, task, metric) for name in results.objectives}
        yield from leader(results, f"Δ on {score_title(task, metric)} under {under}", deltas_of, -1)
    aligned = {name: results.alignments(name, hardest, "held-out") for name in results.objectives}
    yield from leader(results, f"alignment@1 of held-out types under {under}", aligned, +1)
