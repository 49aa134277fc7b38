"""What a study of XLM-Align found, in two or three sentences."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.findings import transfer_finding
from analysis.papers.xlm_align.ablations import top_layer
from analysis.records.record import AER, LABELS
from analysis.records.results import BySeed, Results, mean, objective_name, transform_name
from analysis.report.table import percent


def xlm_align_findings(results: Results) -> Iterator[str]:
    """Labels and alignment under the transform whose links are hardest to find, then transfer."""
    layer = top_layer(results)
    errors = {
        transform: [
            error.mean
            for objective in results.objectives
            if (error := mean(results.scores(AER, objective, transform, "", layer)))
        ]
        for transform in results.transforms
    }
    measured = {transform: sum(values) / len(values) for transform, values in errors.items() if values}
    if measured:
        transform = max(measured, key=lambda name: measured[name])
        under = f"Under {transform_name(transform)}"
        labels = {
            objective: results.scores(LABELS, objective, transform, "", "precision")
            for objective in results.objectives
            if "-gold" not in objective
        }
        yield from _ends(f"{under} the precision of self-made labels ends", labels, ("highest", "lowest"))
        rates = {objective: results.scores(AER, objective, transform, "", layer) for objective in results.objectives}
        yield from _ends(f"{under} the alignment error rate of the last layer is", rates, ("highest", "lowest"))
    yield from transfer_finding(results)


def _ends(what: str, by_objective: dict[str, BySeed], words: tuple[str, str]) -> Iterator[str]:
    """Which objective has the most and which the least."""
    means = {name: estimate.mean for name, values in by_objective.items() if (estimate := mean(values))}
    if len(means) > 1:
        ends = max(means, key=lambda name: means[name]), min(means, key=lambda name: means[name])
        parts = zip(words, ends, strict=True)
        said = [f"{word} with {objective_name(name)} ({percent(means[name])} %)" for word, name in parts]
        yield f"{what} {' and '.join(said)}."
