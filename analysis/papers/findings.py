"""Report the best objectives in sentences."""

from collections.abc import Iterator, Mapping
from itertools import product

from calque.analysis.papers.align_mlm.figures import compared_metrics
from calque.analysis.papers.columns import score_title
from calque.analysis.report.table import percent
from calque.analysis.results.measured import BySeed, difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import HOLDS, judge


def leader(
    results: Results, number: str, values: Mapping[str, BySeed], side: int, unit: str = "%"
) -> Iterator[str]:
    """Yield a sentence on the two objectives with the largest (`side` +1) or smallest (-1) means, if at least
    two were measured. It says "beyond seed noise" if the first beats every other objective in a comparison
    paired by seed, and the two printed numbers differ."""
    means = {objective: estimate.mean for objective, its in values.items() if (estimate := mean(its))}
    if len(means) < 2:
        return
    first, second, *others = sorted(means, key=lambda objective: -side * means[objective])
    best, following = percent(means[first]), percent(means[second])
    leads = best != following
    for other in (second, *others):
        gap = difference(values[first], values[other])
        leads &= gap is not None and judge([(gap, 0.0, side)], "").verdict == HOLDS
    noise = "one seed supports no conclusion" if len(results.seeds) < 2 else "within seed noise"
    word, certain = "highest" if side > 0 else "lowest", "beyond seed noise" if leads else noise
    one, other = map(results.objective_title, (first, second))
    yield f"{number}: {word} with {one}, {best} {unit}, then {other}, {following} {unit} ({certain})."


def transfer_findings(results: Results) -> Iterator[str]:
    """Name the objectives that lose least on each task and align best, under the transform with the largest
    mean Δ."""
    metrics, losses = compared_metrics(results), dict[str, float]()
    for transform in results.transforms:
        cells = product(results.objectives, metrics.items())
        deltas = [mean(results.deltas(objective, transform, *metric)) for objective, metric in cells]
        if means := [delta.mean for delta in deltas if delta]:
            losses[transform] = sum(means) / len(means)
    if not losses:
        return
    hardest = max(losses, key=losses.__getitem__)
    under = results.transform_title(hardest)
    for task, metric in metrics.items():
        deltas_of = {name: results.deltas(name, hardest, task, metric) for name in results.objectives}
        yield from leader(results, f"Δ on {score_title(task, metric)} under {under}", deltas_of, -1, "points")
    aligned = {name: results.alignments(name, hardest, "held-out") for name in results.objectives}
    yield from leader(results, f"alignment@1 of held-out types under {under}", aligned, +1)
