"""What comes first, as tables and in a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import comb

from analysis.papers.growth.curves import NEVER, QUANTITIES, Curves, Onsets, Quantity, in_order, onsets, reversed_pairs
from analysis.papers.texts import table
from analysis.report.table import MISSING, Table, listed
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate

NOTE = (
    "A quantity leaves its null at the first of two probes in a row beyond the 95 % band of its null and beyond "
    "chance. Steps are medians over seeds, with the earliest and the latest seed; with five seeds these are a 94 % "
    "interval for the median. 0: before the first step. Probes lie on a geometric scale of steps, so quantities of one "
    "step may differ by less than that."
)


def growth_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """The order in which quantities leave their nulls, the step of each, and its last value."""
    curves, order, steps, ends = Curves(results), [], [], []
    for transform in results.transforms:
        for objective in results.objectives:
            found = onsets(curves, objective, transform)
            titles = results.transform_title(transform), results.objective_title(objective)
            order.append((*titles, order_in_words(found), agreement(found, len(results.seeds))))
            steps.append((*titles, *(str(found[q]) if q in found else MISSING for q in QUANTITIES)))
            lines = [(quantity, curves.means(quantity, objective, transform)) for quantity in QUANTITIES]
            last = (_ending(line[max(line)], 1 if q.unit == 100 else 2) if line else MISSING for q, line in lines)
            ends.append((*titles, *last))
    labels = ("language", "objective")
    what = (*labels, "what leaves its null, in this order", "the same order in all seeds")
    names, axes = ((*labels, *(getattr(quantity, name) for quantity in QUANTITIES)) for name in ("name", "axis"))
    yield "what-comes-first", table("what-comes-first", results, scale, what, order, 2, onset=NOTE)
    yield "onsets", table("onsets", results, scale, names, steps, 2, onset=NOTE)
    after = f"after step {max(curves.steps):,}" if curves.steps else "after the last step"
    yield "ends", table("ends", results, scale, axes, ends, 2, after=after)


def _ending(one: Estimate, digits: int) -> str:
    """`84.3 ± 2.1`, or `84.3 [70.1, 100.0]` where the interval is cut off."""
    interval = ""
    if one.half is not None:
        cut = f" [{one.low:.{digits}f}, {one.high:.{digits}f}]"
        interval = f" ± {one.half:.{digits}f}" if one.symmetric else cut
    return f"{one.mean:.{digits}f}{interval}"


def order_in_words(found: Mapping[Quantity, Onsets]) -> str:
    """`gradients (0), loss and CKA (64), sentences (128); never: all types`."""
    groups = in_order(found)
    order = [f"{_names(these)} ({step:,.0f})" for step, these in groups if step < NEVER]
    never = [f"never: {_names(these)}" for step, these in groups if step == NEVER]
    return "; ".join(filter(None, [", ".join(order), *never])) or MISSING


def agreement(found: Mapping[Quantity, Onsets], seeds: int) -> str:
    """Whether seeds have the same order, how many pairs change places, and what leaves its null in some seeds only."""
    if seeds < 2:
        return "one seed"
    swapped = reversed_pairs(found)
    same = "yes" if not swapped else f"no: {len(swapped)} of {comb(len(found), 2)} pairs change places"
    some = [quantity for quantity, one in found.items() if 0 < one.left < len(one.steps)]
    return f"{same}; in some seeds only: {_names(some)}" if some else same


def _names(quantities: Sequence[Quantity]) -> str:
    return listed([quantity.name for quantity in quantities])


def growth_findings(results: Results) -> Iterator[str]:
    """Which quantities come first and last how often, in which order with MLM, and whether seeds agree."""
    curves = Curves(results)
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = {cell: one for cell in cells if (one := onsets(curves, *cell))}
    if not found:
        return
    firsts, never = Counter[str](), Counter[str]()
    for one in found.values():
        groups = in_order(one)
        firsts.update(quantity.name for quantity in groups[0][1] if groups[0][0] < NEVER)
        never.update(quantity.name for step, these in groups if step == NEVER for quantity in these)
    if firsts:
        counts = listed([f"{name} in {count}" for name, count in firsts.most_common()])
        pairs = f"Of {len(found)} pairs of a language and an objective"
        yield f"{pairs}, what leaves its null first is {counts} (several may leave together)."
    else:
        yield "No quantity leaves its null."
    if never:
        counts = listed([f"{q.name} in {never[q.name]}" for q in QUANTITIES if q.name in never])
        yield f"In half of the seeds or more these never leave: {counts}."
    for (objective, transform), one in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {order_in_words(one)}."
    if len(results.seeds) > 1:
        same = sum(not reversed_pairs(one) for one in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."
