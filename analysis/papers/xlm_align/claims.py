"""XLM-Align's headlines, and the question that it leaves open, tested as claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.papers.align_mlm.claims import UNDECIDED, Claim, Verdict, compare, points
from analysis.papers.xlm_align.ablations import top_layer
from analysis.records.record import AER, LABELS
from analysis.records.results import PRIMARY, BySeed, Results, difference, objective_name, task_name, transform_name
from analysis.statistics.intervals import estimate

WHOLE, GOLD = "XLM-ALIGN", "XLM-ALIGN-gold"
MOST = 0.5
"""Self-labelling works when most labels are right."""
PARTS = {"no-dwa": "DWA", "no-tlm": "TLM", "unfiltered": "filtering"}
"""What an objective lacks by its name, and what the paper finds to help."""
OURS = "ours: the paper has neither gold labels nor another start"
SECTION_6 = "ours; in section 6 it does “not work very well” from scratch, for want of good labels"
TABLE_2 = "Table 2 and Figure 2, where it goes on from XLM-R"


@dataclass(frozen=True)
class Look:
    """Where a number stands in the records."""

    measure: str
    objective: str
    transform: str
    task: str
    metric: str

    def __call__(self, results: Results) -> BySeed:
        return results.scores(self.measure, self.objective, self.transform, self.task, self.metric)


@dataclass(frozen=True)
class Above:
    """Whether a number is above a bound, beyond what seeds differ; one seed decides nothing."""

    values: Look
    bound: float

    def __call__(self, results: Results) -> Verdict:
        values = [measured.value for measured in self.values(results).values()]
        if not values:
            return Verdict(UNDECIDED, "no records")
        found = estimate(values)
        return Verdict(compare(found, self.bound, +1), points(found))


@dataclass(frozen=True)
class Apart:
    """Whether one number is above (`side` +1) or below (-1) another; one seed decides nothing about labels."""

    one: Look
    other: Look
    side: int

    def __call__(self, results: Results) -> Verdict:
        one, other = self.one(results), self.other(results)
        if self.one.measure == LABELS and len(one.keys() & other.keys()) < 2:
            return Verdict(UNDECIDED, "fewer than two seeds")
        gap = difference(one, other)
        return Verdict(compare(gap, 0.0, self.side), points(gap)) if gap else Verdict(UNDECIDED, "no records")


def xlm_align_claims(results: Results) -> list[Claim]:
    """The headlines for the objectives and transforms that the records have."""
    starts = [name.removeprefix(WHOLE) for name in results.objectives if name.partition("-after-")[0] == WHOLE]
    return [
        claim
        for transform in results.transforms
        for start in starts
        for claim in (*_labelling(results, transform, start), *_parts(results, transform, start))
    ]


def _labelling(results: Results, transform: str, start: str) -> Iterator[Claim]:
    whole, under = WHOLE + start, f"under {transform_name(transform)}"
    yield Claim(
        f"Most of the labels of {objective_name(whole)} are right in the end, {under}",
        OURS if start else SECTION_6,
        Above(Look(LABELS, whole, transform, "", "precision"), MOST),
    )
    if whole != WHOLE and WHOLE in results.objectives:
        yield Claim(
            f"More of the labels of {objective_name(whole)} are right than of {objective_name(WHOLE)}, {under}",
            OURS,
            Apart(Look(LABELS, whole, transform, "", "precision"), Look(LABELS, WHOLE, transform, "", "precision"), +1),
        )
    golds = [(gold, whole) for gold in dict.fromkeys((GOLD, GOLD + start))]
    for better, worse in ((whole, WHOLE), (whole, start.removeprefix("-after-")), *golds):
        if better != worse and {better, worse} <= set(results.objectives):
            yield Claim(
                f"{objective_name(better)} has a lower AER than {objective_name(worse)}, {under}",
                OURS,
                _errors(results, better, worse, transform, -1),
            )


def _parts(results: Results, transform: str, start: str) -> Iterator[Claim]:
    whole, under = WHOLE + start, f"under {transform_name(transform)}"
    for part, said in PARTS.items():
        without = f"{WHOLE}-{part}{start}"
        if without not in results.objectives:
            continue
        begun = objective_name(whole).removeprefix("XLM-Align")
        yield Claim(
            f"With {said}{begun} the AER is lower than without, {under}",
            TABLE_2,
            _errors(results, whole, without, transform, -1),
        )
        for task in (task for task in PRIMARY if task in results.tasks):
            ours, theirs = (Look("ZS", name, transform, task, PRIMARY[task]) for name in (whole, without))
            table = "Table 6" if said == "filtering" else "Table 3"
            yield Claim(
                f"{said[0].upper()}{said[1:]} helps{begun} on {task_name(task)}, zero-shot, {under}",
                table,
                Apart(ours, theirs, +1),
            )


def _errors(results: Results, one: str, other: str, transform: str, side: int) -> Apart:
    """AER of the last layer, each side encoded alone."""
    layer = top_layer(results)
    return Apart(Look(AER, one, transform, "", layer), Look(AER, other, transform, "", layer), side)
