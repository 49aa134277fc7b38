"""What comes first, in a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from analysis.papers.growth.curves import Curves
from analysis.papers.growth.onset import NEVER, in_order, onsets, reversed_pairs
from analysis.papers.growth.quantities import QUANTITIES
from analysis.papers.growth.tables import order_in_words
from analysis.report.verdicts import listed
from analysis.results.results import Results


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
    counted = [f"{name} in {count}" for name, count in firsts.most_common()]
    said = f"Of {len(found)} pairs of a language and an objective, what leaves its null first is {listed(counted)}"
    yield f"{said} (several may leave together)." if counted else "No quantity leaves its null."
    if never:
        names = [quantity.name for quantity in QUANTITIES if quantity.name in never]
        said = listed([f"{name} in {never[name]}" for name in names])
        yield f"In half of the seeds or more these never leave: {said}."
    for (objective, transform), one in found.items():
        if objective == results.objectives[0]:
            title = results.objective_title(objective)
            yield f"{title} under {results.transform_title(transform)}: {order_in_words(one)}."
    if len(results.seeds) > 1:
        same = sum(not reversed_pairs(one) for one in found.values())
        yield f"The order is the same in all {len(results.seeds)} seeds for {same} of {len(found)}."
