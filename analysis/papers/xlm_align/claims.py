"""XLM-Align's headlines, and the question that it leaves open, tested as claims; findings in two or three sentences."""

from collections.abc import Iterator, Mapping

from analysis.papers.align_mlm.claims import noise, ranked, transfer_finding
from analysis.papers.xlm_align.ablations import SWITCHED, after, changes, errors, variant
from analysis.records.record import LABELS
from analysis.records.run import Start
from analysis.report.table import percent
from analysis.results.measured import BySeed, judge_difference, judge_estimate, mean
from analysis.results.results import Results
from analysis.statistics.verdicts import Claim
from analysis.tasks.catalog import PRIMARY, task_title

MOST = 0.5  # self-labelling works when most labels are right
PARTS = {name: SWITCHED[f"without {name}"] for name in ("DWA", "TLM", "filtering")}
"""The parts that the paper finds to help, and the switches that leave each out."""
OURS = "ours: the paper has neither gold labels nor another start"
SECTION_6 = "ours; in section 6 it does “not work very well” from scratch, for want of good labels"
TABLE_2 = "Table 2 and Figure 2, where it goes on from XLM-R"
LABELLING, ERRORS, TRANSFER = "self-labels", "AER", "zero-shot transfer"  # the families of claims


def precision(results: Results, objective: str, transform: str) -> BySeed:
    """The precision of an objective's self-labels, by seed."""
    return results.scores(LABELS, objective, transform, "", "precision")


def xlm_align_claims(results: Results) -> list[Claim]:
    """The headlines for the objectives and transforms that the records have."""
    starts = [results.start(name) for name in results.objectives if changes(results.objective(name)) == {}]
    return [
        claim
        for transform in results.transforms
        for start in starts
        for claim in (*_labelling(results, transform, start), *_parts(results, transform, start))
    ]


def _labelling(results: Results, transform: str, start: Start | None) -> Iterator[Claim]:
    whole, cold = variant(results, start), variant(results, None)
    assert whole is not None  # the start is its own
    under, title = f"under {results.transform_title(transform)}", results.objective_title
    verdict = judge_estimate(mean(precision(results, whole, transform)), +1, MOST)
    right = f"Most of the labels of {title(whole)} are right in the end, {under}"
    yield Claim(right, OURS if start else SECTION_6, LABELLING, verdict)
    if start and cold is not None:
        labels = (precision(results, name, transform) for name in (whole, cold))
        more = f"More of the labels of {title(whole)} are right than of {title(cold)}, {under}"
        yield Claim(more, OURS, LABELLING, judge_difference(*labels))
    golds = [variant(results, begun, labels="gold") for begun in ([None, start] if start else [None])]
    first = start.objective.name if start and start.objective.name in results.objectives else None
    for better, worse in [(whole, cold), (whole, first), *((gold, whole) for gold in golds)]:
        if better is not None and worse is not None and better != worse:
            rates = (errors(results, name, transform) for name in (better, worse))
            lower = f"{title(better)} has a lower AER than {title(worse)}, {under}"
            yield Claim(lower, OURS, ERRORS, judge_difference(*rates, side=-1))


def _parts(results: Results, transform: str, start: Start | None) -> Iterator[Claim]:
    whole, under = variant(results, start), f"under {results.transform_title(transform)}"
    assert whole is not None
    for part, switches in PARTS.items():
        without = variant(results, start, **switches)
        if without is None:
            continue
        rates = (errors(results, name, transform) for name in (whole, without))
        lower = f"With {part}{after(start)} the AER is lower than without, {under}"
        yield Claim(lower, TABLE_2, ERRORS, judge_difference(*rates, side=-1))
        where = "Table 6" if part == "filtering" else "Table 3"
        for task in results.main_tasks:
            scores = (results.scores("ZS", name, transform, task, PRIMARY[task]) for name in (whole, without))
            helps = f"{part[0].upper()}{part[1:]} helps{after(start)} on {task_title(task)}, zero-shot, {under}"
            yield Claim(helps, where, TRANSFER, judge_difference(*scores))


def xlm_align_findings(results: Results) -> Iterator[str]:
    """Labels and alignment under the transform whose links are hardest to find, then transfer."""
    measured = {}
    for transform in results.transforms:
        rates = [mean(errors(results, objective, transform)) for objective in results.objectives]
        if means := [rate.mean for rate in rates if rate]:
            measured[transform] = sum(means) / len(means)
    if measured:
        transform = max(measured, key=lambda name: measured[name])
        under = f"Under {results.transform_title(transform)}"
        labels = {
            objective: precision(results, objective, transform)
            for objective in results.objectives
            if (changes(results.objective(objective)) or {}).get("labels") != "gold"
        }
        yield from _ends(results, f"{under} the precision of self-made labels ends", labels)
        last = {objective: errors(results, objective, transform) for objective in results.objectives}
        yield from _ends(results, f"{under} the alignment error rate of the last layer is", last)
    yield from transfer_finding(results)


def _ends(results: Results, what: str, by_objective: Mapping[str, BySeed]) -> Iterator[str]:
    """The objective with the highest number and that with the lowest, or the range where nobody leads."""
    high, low = (ranked(by_objective, side) for side in (+1, -1))
    if high is None or low is None:
        return
    leaders = [
        f"{word} with {results.objective_title(end.best)} ({percent(end.value)} %)"
        for word, end in (("highest", high), ("lowest", low))
        if end.leads
    ]
    if leaders:
        yield f"{what} {' and '.join(leaders)}, beyond the noise between seeds."
    else:
        yield f"{what} between {percent(low.value)} and {percent(high.value)} %; no objective leads, {noise(results)}."
