"""XLM-Align's headlines, and the question that it leaves open, tested as claims; findings in two or three sentences."""

from collections.abc import Iterator, Mapping
from statistics import fmean

from calque.analysis.papers.align_mlm.claims import noise, ranked, transfer_finding
from calque.analysis.papers.texts import claim
from calque.analysis.papers.xlm_align.ablations import SWITCHED, after, changes, errors, variant
from calque.analysis.records.record import LABELS
from calque.analysis.report.table import percent
from calque.analysis.results.measured import BySeed, judge_difference, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import PRIMARY, task_title

MOST = 0.5  # self-labelling works when most labels are right


def precision(results: Results, objective: str, transform: str) -> BySeed:
    """The precision of an objective's self-labels, by seed."""
    return results.scores(LABELS, objective, transform, "", "precision")


def xlm_align_claims(results: Results) -> list[Claim]:
    """The headlines for the objectives and transforms that the records have."""
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
    """Labels and alignment under the transform whose links are hardest to find, then transfer."""
    by_transform = {t: {o: errors(results, o, t) for o in results.objectives} for t in results.transforms}
    measured = {t: [rate.mean for its in rates.values() if (rate := mean(its))] for t, rates in by_transform.items()}
    if transform := max((t for t in measured if measured[t]), key=lambda t: fmean(measured[t]), default=""):
        under = f"Under {results.transform_title(transform)}"
        labels = {
            objective: precision(results, objective, transform)
            for objective in results.objectives
            if (changes(results.objective(objective)) or {}).get("labels") != "gold"
        }
        yield from _ends(results, f"{under} the precision of self-made labels ends", labels)
        last = by_transform[transform]
        yield from _ends(results, f"{under} the alignment error rate of the last layer is", last)
    yield from transfer_finding(results)


def _ends(results: Results, what: str, by_objective: Mapping[str, BySeed]) -> Iterator[str]:
    """The objectives with the highest and the lowest number, or the range if none leads."""
    high, low = (ranked(by_objective, side) for side in (+1, -1))
    if high is None or low is None:
        return
    leaders = [
        f"{word} with {results.objective_title(end.best)} ({percent(end.value)} %)"
        for word, end in (("highest", high), ("lowest", low))
        if end.leads
    ]
    if leaders:
        yield f"{what} {' and '.join(leaders)}, beyond seed noise."
    else:
        yield f"{what} between {percent(low.value)} and {percent(high.value)} %; no objective leads, {noise(results)}."
