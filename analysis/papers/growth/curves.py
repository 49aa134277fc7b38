"""Find the pretraining step at which each quantity first leaves its null, and report the order."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import comb
from pathlib import Path
from statistics import median

from calque.analysis.papers.texts import table
from calque.analysis.records.record import Record
from calque.analysis.report.table import MISSING, Table, decimal, listed
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Bounds, Estimate, estimate
from calque.derive.files import read_toml
from calque.pretrain.architecture import main_layer

NEVER = math.inf
Curve = Mapping[int, Record]  # one seed's records by step, in ascending order


@dataclass(frozen=True)
class Quantity:
    """A measure and a metric followed over pretraining; quantities.toml explains the fields."""

    name: str
    axis: str
    measure: str
    metric: str
    text: str
    unit: float = 100.0
    bounds: Bounds = (0.0, 100.0)
    side: int = 1
    layered: bool = False


_TEXTS = read_toml(Path(__file__).with_name("quantities.toml"))
NOTE: str = _TEXTS["note"]
PREDICTED, ALIGNED = (
    tuple(Quantity(**row | {"bounds": tuple(row.get("bounds", Quantity.bounds))}) for row in _TEXTS[group])
    for group in ("predicted", "aligned")
)
"""The quantities in two figures: on predictions, and on words and sentences."""
QUANTITIES = (*PREDICTED, *ALIGNED)
DIGITS = [1 if quantity.unit == 100 else 2 for quantity in QUANTITIES]  # percentages have one decimal


def curves(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Curve]:
    """Return the records that have a null, by seed and step; empty if the quantity was not measured."""
    depth = next(run.layers for run in results.runs.values())
    layer = main_layer(depth) if quantity.layered else None
    found: dict[int, dict[int, Record]] = {}
    for task in ("", *results.tasks):  # the linear probe's records name the task that it was trained on
        key = (quantity.measure, objective, transform, task, quantity.metric)
        found = found or results.curves(*key, layer=layer)
    with_null = {seed: {step: r for step, r in curve.items() if r.null} for seed, curve in found.items()}
    return {seed: curve for seed, curve in with_null.items() if curve}


def at_steps(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, list[Record]]:
    """Return all seeds' records by step, for the steps recorded in every seed in ascending order."""
    of_seeds = list(curves(results, quantity, objective, transform).values())
    common = sorted(set.intersection(*map(set, of_seeds))) if of_seeds else []
    return {step: [curve[step] for curve in of_seeds] for step in common}


def means(results: Results, quantity: Quantity, objective: str, transform: str) -> dict[int, Estimate]:
    """Return the mean over seeds at each step recorded in every seed, in the quantity's unit."""
    return {
        step: estimate([quantity.unit * record.value for record in records], quantity.bounds)
        for step, records in at_steps(results, quantity, objective, transform).items()
    }


def records_of(results: Results, quantities: Sequence[Quantity]) -> list[Record]:
    """Return the records of the given quantities for all objectives, transforms, seeds and steps."""
    cells = product(quantities, results.objectives, results.transforms)
    lines = (curve for cell in cells for curve in curves(results, *cell).values())
    return [record for curve in lines for record in curve.values()]


def steps_of(results: Results) -> list[int]:
    """Return the probed steps in ascending order."""
    return sorted({record.step for record in records_of(results, QUANTITIES)})


def onset(curve: Curve, side: int) -> float:
    """Return the first step at which, as at the next one, the value is beyond its null on the given side, or
    NEVER."""
    beyond = [(step, bool(r.null and r.null.left(r.value, side))) for step, r in curve.items()]
    return next((float(step) for (step, left), (_, still) in pairwise(beyond) if left and still), NEVER)


@dataclass(frozen=True)
class Onsets:
    """The first step at which a quantity leaves its null, for each seed. With five seeds, the range is a 94 %
    interval for the median."""

    steps: Mapping[int, float]

    @property
    def ends(self) -> tuple[float, float, float]:
        """The earliest, the median and the latest step."""
        steps = sorted(self.steps.values())
        return steps[0], median(steps), steps[-1]

    @property
    def left(self) -> int:
        return sum(step < NEVER for step in self.steps.values())

    def __str__(self) -> str:
        """Format the onset, as in `91 [64, 128]`, `64`, `never`, or `never in 2 of 5, else from 64`."""
        low, middle, high = self.ends
        if not self.left:
            return "never"
        if self.left < len(self.steps):
            return f"never in {len(self.steps) - self.left} of {len(self.steps)}, else from {low:,.0f}"
        return f"{middle:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if low < high else "")


Found = Mapping[Quantity, Onsets]
"""Onsets by quantity, the earliest first."""


def onsets(results: Results, objective: str, transform: str) -> Found:
    """Find the onsets of all quantities measured for an objective and a transform."""
    found = dict[Quantity, Onsets]()
    for quantity in QUANTITIES:
        if seeds := curves(results, quantity, objective, transform):
            found[quantity] = Onsets({seed: onset(curve, quantity.side) for seed, curve in seeds.items()})
    return dict(sorted(found.items(), key=lambda item: (item[1].ends[1], -item[1].left, item[1].ends[0])))


def _swapped_pairs(found: Found) -> int:
    """Count the pairs of quantities whose order differs between seeds."""
    swapped = 0
    for first, second in combinations(found.values(), 2):
        a, b = first.steps, second.steps
        ahead = [a[seed] - b[seed] for seed in a.keys() & b.keys() if a[seed] != b[seed]]
        swapped += bool(ahead) and min(ahead) < 0 < max(ahead)
    return swapped


def _in_order(found: Found) -> dict[float, list[str]]:
    groups: dict[float, list[str]] = {}
    for quantity, its in found.items():
        groups.setdefault(its.ends[1], []).append(quantity.name)
    return groups


def growth_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Yield tables of the order of quantities' onsets, of the onsets, and of values at the last step."""
    order: list[tuple[str, ...]] = []
    steps: list[tuple[str, ...]] = []
    ends: list[tuple[str, ...]] = []
    for transform, objective in product(results.transforms, results.objectives):
        found = onsets(results, objective, transform)
        titles = results.transform_title(transform), results.objective_title(objective)
        order.append((*titles, _order_in_words(found), _agreement(found, len(results.seeds))))
        steps.append((*titles, *(str(found.get(quantity, MISSING)) for quantity in QUANTITIES)))
        lines = [list(means(results, quantity, objective, transform).values()) for quantity in QUANTITIES]
        cells = zip((line[-1] if line else None for line in lines), DIGITS, strict=True)
        ends.append((*titles, *(decimal(*cell) for cell in cells)))
    labels, probed = ("language", "objective"), steps_of(results)
    after = f"after step {probed[-1]:,}" if probed else "after the last step"
    tables = {
        "what-comes-first": (["what leaves its null, in this order", "the same order in all seeds"], order),
        "onsets": ([quantity.name for quantity in QUANTITIES], steps),
        "ends": ([quantity.axis for quantity in QUANTITIES], ends),
    }
    for name, (heads, rows) in tables.items():
        yield name, table(name, results, scale, labels, heads, rows, onset=NOTE, after=after)


def _order_in_words(found: Found) -> str:
    """Describe the order of onsets, as in `loss and CKA (64), sentences (128); never: all types`."""
    groups = {step: listed(names) for step, names in _in_order(found).items()}
    never = groups.pop(NEVER, "")
    order = ", ".join(f"{names} ({step:,.0f})" for step, names in groups.items())
    return "; ".join(filter(None, [order, never and f"never: {never}"])) or MISSING


def _agreement(found: Found, seeds: int) -> str:
    if seeds < 2:
        return "one seed"
    swapped = _swapped_pairs(found)
    same = f"no: {swapped} of {comb(len(found), 2)} pairs change places" if swapped else "yes"
    some = [quantity.name for quantity, its in found.items() if 0 < its.left < len(its.steps)]
    return f"{same}; in some seeds only: {listed(some)}" if some else same


def growth_findings(results: Results) -> Iterator[str]:
    """Report how often each quantity leaves its null first, the order for the first objective, and how often
    all seeds agree on the order."""
    cells = [(objective, transform) for transform in results.transforms for objective in results.objectives]
    found = {cell: its for cell in cells if (its := onsets(results, *cell))}
    if not found:
        return
    earliest = [next(iter(_in_order(its).items())) for its in found.values()]
    firsts = Counter(name for step, names in earliest if step < NEVER for name in names)
    counts = listed([f"{name} in {count}" for name, count in firsts.most_common()]) or "none"
    yield f"First above its null, of {len(found)} pairs of a language and an objective: {counts}."
    for (objective, transform), its in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {_order_in_words(its)}."
    if len(results.seeds) > 1:
        same = sum(not _swapped_pairs(its) for its in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."
