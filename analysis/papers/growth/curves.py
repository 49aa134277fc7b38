"""A quantity over the steps of pretraining: each seed's records, and means with intervals over seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from analysis.aligners.encoder import main_layer
from analysis.papers.growth.quantities import QUANTITIES, Quantity
from analysis.records.record import Record
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate, estimate

Curve = Mapping[int, Record]
"""A seed's record by step, ascending."""


class Curves:
    """The curves of a study; they are asked for by quantity, objective and transform."""

    def __init__(self, results: Results) -> None:
        self.results = results
        followed = {(quantity.measure, quantity.metric): quantity for quantity in QUANTITIES}
        made: dict[tuple[str, str, str], dict[int, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
        for record in results.records:
            quantity, run = followed.get((record.measure, record.metric)), results.runs[record.run]
            if quantity is None or run.objective is None or record.first or record.null is None:
                continue
            if record.layer == (main_layer(run.layers) if quantity.layered else None):
                made[quantity.name, run.objective.name, record.language][run.seed][record.step] = record
        self._curves = {
            key: {seed: dict(sorted(curve.items())) for seed, curve in sorted(seeds.items())}
            for key, seeds in made.items()
        }

    def seeds(self, quantity: Quantity, objective: str, transform: str) -> Mapping[int, Curve]:
        """Each seed's curve; none where the quantity was not measured."""
        return self._curves.get((quantity.name, objective, transform), {})

    def means(self, quantity: Quantity, objective: str, transform: str) -> dict[int, Estimate]:
        """The mean over seeds at each step that all of them have, in the quantity's unit."""
        return {
            step: estimate([quantity.unit * record.value for record in records], quantity.bounds)
            for step, records in self.at_steps(quantity, objective, transform).items()
        }

    def at_steps(self, quantity: Quantity, objective: str, transform: str) -> dict[int, list[Record]]:
        """The records of all seeds at each step that all of them have, ascending."""
        curves = list(self.seeds(quantity, objective, transform).values())
        common = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
        return {step: [curve[step] for curve in curves] for step in common}

    def records(self, *quantities: Quantity) -> list[Record]:
        """All records of some quantities that curves are made of."""
        names = {quantity.name for quantity in quantities}
        return [
            record
            for (name, _, _), seeds in self._curves.items()
            if name in names
            for curve in seeds.values()
            for record in curve.values()
        ]

    @property
    def steps(self) -> list[int]:
        """All steps, ascending."""
        return sorted({record.step for record in self.records(*QUANTITIES)})
