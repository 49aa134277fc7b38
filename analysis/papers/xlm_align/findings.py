"""Findings of a study of XLM-Align, in two or three sentences."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.findings import transfer_finding
from analysis.papers.align_mlm.ranking import noise, ranked
from analysis.papers.xlm_align.ablations import errors
from analysis.papers.xlm_align.variants import changes
from analysis.records.record import LABELS
from analysis.report.table import percent
from analysis.results.measured import BySeed, mean
from analysis.results.results import Results


def xlm_align_findings(results: Results) -> Iterator[str]:
    """Labels and alignment under the transform whose links are hardest to find, then transfer."""
    rates = {
        transform: [
            error.mean for objective in results.objectives if (error := mean(errors(results, objective, transform)))
        ]
        for transform in results.transforms
    }
    measured = {transform: sum(values) / len(values) for transform, values in rates.items() if values}
    if measured:
        transform = max(measured, key=lambda name: measured[name])
        under = f"Under {results.transform_title(transform)}"
        labels = {
            objective: results.scores(LABELS, objective, transform, "", "precision")
            for objective in results.objectives
            if (changes(results.objective(objective)) or {}).get("labels") != "gold"
        }
        yield from _ends(results, f"{under} the precision of self-made labels ends", labels)
        last = {objective: errors(results, objective, transform) for objective in results.objectives}
        yield from _ends(results, f"{under} the alignment error rate of the last layer is", last)
    yield from transfer_finding(results)


def _ends(results: Results, what: str, by_objective: dict[str, BySeed]) -> Iterator[str]:
    """The objective with the highest number and that with the lowest, or the range where nobody leads."""
    ends = [ranked(results, lambda name: by_objective.get(name, {}), side) for side in (+1, -1)]
    high, low = ends
    if high is None or low is None:
        return
    said = [
        f"{word} with {results.objective_title(end.best)} ({percent(end.value)} %)"
        for word, end in (("highest", high), ("lowest", low))
        if end.leads
    ]
    if said:
        yield f"{what} {' and '.join(said)}, beyond the noise between seeds."
    else:
        yield f"{what} between {percent(low.value)} and {percent(high.value)} %; no objective leads, {noise(results)}."
