"""XLM-Align's headlines, and the question that it leaves open, tested as claims."""

from collections.abc import Iterator
from statistics import fmean

from calque.analysis.papers.findings import leader, transfer_findings
from calque.analysis.papers.texts import claim
from calque.analysis.papers.xlm_align.ablations import SWITCHED, after, changes, errors, variant
from calque.analysis.records.record import LABELS
from calque.analysis.results.measured import BySeed, judge_difference, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import PRIMARY, task_title

MOST = 0.5  # self-labelling works when most labels are right


def precision(results: Results, objective: str, transform: str) -> BySeed:
    return results.scores(LABELS, objective, transform, "", "precision")


def xlm_align_claims(results: Results) -> list[Claim]:
    wholes = [name for name in results.objectives if changes(results.objective(name)) == {}]
    return [
        claim
        for transform in results.transforms
        for whole in wholes
        for claims in (_labelling, _parts)
        for claim in claims(results, transform, whole)
    ]


def _labelling(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, cold, title = results.start(whole), variant(results, None), results.objective_title
    under = results.transform_title(transform)
    verdict = judge_estimate(mean(precision(results, whole, transform)), +1, MOST)
    yield claim("labels-right" if start else "labels-right-from-scratch", verdict, better=title(whole), under=under)
    if start and cold is not None:
        verdict = judge_difference(*(precision(results, name, transform) for name in (whole, cold)))
        yield claim("more-labels-right", verdict, better=title(whole), worse=title(cold), under=under)
    golds = [variant(results, begun, labels="gold") for begun in ([None, start] if start else [None])]
    first = start.objective.name if start and start.objective.name in results.objectives else None
    for better, worse in [(whole, cold), (whole, first), *((gold, whole) for gold in golds)]:
        if better is not None and worse is not None and better != worse:
            verdict = judge_difference(*(errors(results, name, transform) for name in (better, worse)), side=-1)
            yield claim("lower-aer", verdict, better=title(better), worse=title(worse), under=under)


def _parts(results: Results, transform: str, whole: str) -> Iterator[Claim]:
    start, under = results.start(whole), results.transform_title(transform)
    for part in ("DWA", "TLM", "filtering"):  # the parts that the paper finds to help
        without = variant(results, start, **SWITCHED[f"without {part}"])
        if without is None:
            continue
        about = {"part": part, "Part": part[0].upper() + part[1:], "after": after(start), "under": under}
        verdict = judge_difference(*(errors(results, name, transform) for name in (whole, without)), side=-1)
        yield claim("part-lowers-aer", verdict, **about)
        about["where"] = "Table 6" if part == "filtering" else "Table 3"
        for task in results.main_tasks:
            scores = (results.scores("ZS", name, transform, task, PRIMARY[task]) for name in (whole, without))
            yield claim("part-helps", judge_difference(*scores), on=task_title(task), **about)


def xlm_align_findings(results: Results) -> Iterator[str]:
    rates = {t: {o: errors(results, o, t) for o in results.objectives} for t in results.transforms}
    means = {t: [rate.mean for its in by.values() if (rate := mean(its))] for t, by in rates.items()}
    if measured := [transform for transform in means if means[transform]]:
        hardest = max(measured, key=lambda transform: fmean(means[transform]))
        under = f"under {results.transform_title(hardest)}"
        given = {o: changes(results.objective(o)) or {} for o in results.objectives}
        own = {o: precision(results, o, hardest) for o in results.objectives if given[o].get("labels") != "gold"}
        yield from leader(results, f"precision of self-made labels {under}", own, +1)
        yield from leader(results, f"AER of the last layer {under}", rates[hardest], -1)
    yield from transfer_findings(results)
