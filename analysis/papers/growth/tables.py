"""What comes first, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb

from analysis.papers.growth.curves import Curves
from analysis.papers.growth.onset import NEVER, Onsets, in_order, onsets, reversed_pairs
from analysis.papers.growth.quantities import QUANTITIES, Quantity
from analysis.report.table import MISSING, Table, over_seeds
from analysis.report.verdicts import listed
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate

NOTE = (
    "A quantity leaves its null at the first of two probes in a row beyond the 95 % band of its null and beyond "
    "chance. "
    "Steps are medians over seeds, with the earliest and the latest seed; with five seeds these are a 94 % "
    "interval for "
    "the median. 0: before the first step. Probes lie on a geometric scale of steps, so quantities of one step "
    "may differ "
    "by less than that."
)


def growth_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """The order in which quantities leave their nulls, and the step of each."""
    curves = Curves(results)
    rows, steps = [], []
    for transform in results.transforms:
        for objective in results.objectives:
            found = onsets(curves, objective, transform)
            titles = results.transform_title(transform), results.objective_title(objective)
            rows.append((*titles, order_in_words(found), agreement(found, len(results.seeds))))
            cells = (str(found[quantity]) if quantity in found else MISSING for quantity in QUANTITIES)
            steps.append((*titles, *cells))
    runs = results.run_ids()
    order = ("language", "objective", "what leaves its null, in this order", "the same order in all seeds")
    yield "what-comes-first", Table(f"What comes first, {scale}", order, tuple(rows), NOTE, runs=runs, labels=2)
    head = ("language", "objective", *(quantity.name for quantity in QUANTITIES))
    title = f"The step at which each quantity leaves its null, {scale}"
    yield "onsets", Table(title, head, tuple(steps), NOTE, runs=runs, labels=2)
    last = f"after step {max(curves.steps):,}" if curves.steps else "after the last step"
    head = ("language", "objective", *(quantity.axis for quantity in QUANTITIES))
    ends = tuple(
        _ends(curves, objective, transform) for transform in results.transforms for objective in results.objectives
    )
    about = f"{over_seeds(results.seeds, results.redrawn)}."
    yield "ends", Table(f"What each quantity is {last}, {scale}", head, ends, about, runs=runs, labels=2)


def _ends(curves: Curves, objective: str, transform: str) -> tuple[str, ...]:
    """The last value of each quantity, with its interval over seeds."""
    results, cells = curves.results, []
    for quantity in QUANTITIES:
        line, digits = curves.means(quantity, objective, transform), 1 if quantity.unit == 100 else 2
        cells.append(_ending(line[max(line)], digits) if line else MISSING)
    return results.transform_title(transform), results.objective_title(objective), *cells


def _ending(one: Estimate, digits: int) -> str:
    """`84.3 ± 2.1`, or `84.3 [70.1, 100.0]` where the interval is cut off."""
    if one.half is None:
        return f"{one.mean:.{digits}f}"
    if one.symmetric:
        return f"{one.mean:.{digits}f} ± {one.half:.{digits}f}"
    return f"{one.mean:.{digits}f} [{one.low:.{digits}f}, {one.high:.{digits}f}]"


def order_in_words(found: Mapping[Quantity, Onsets]) -> str:
    """`gradients (0), loss and CKA (64), sentences (128); never: all types`."""
    groups = in_order(found)
    said = [f"{_names(these)} ({step:,.0f})" for step, these in groups if step < NEVER]
    never = [f"never: {_names(these)}" for step, these in groups if step == NEVER]
    return "; ".join(filter(None, [", ".join(said), *never])) or MISSING


def agreement(found: Mapping[Quantity, Onsets], seeds: int) -> str:
    """Whether seeds have the same order, how many pairs change places, and what leaves its null in some seeds only."""
    if seeds < 2:
        return "one seed"
    swapped = reversed_pairs(found)
    said = "yes" if not swapped else f"no: {len(swapped)} of {comb(len(found), 2)} pairs change places"
    some = [quantity for quantity, one in found.items() if 0 < one.left < len(one.steps)]
    return f"{said}; in some seeds only: {_names(some)}" if some else said


def _names(quantities: Sequence[Quantity]) -> str:
    return listed([quantity.name for quantity in quantities])
