"""A cell of a transfer grid: one model, by what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.records.run import Described, Run, Start
from derive.transform import Transform
from pretrain.objective import Objective

SOURCE = Described("source", "the source")


@dataclass(frozen=True)
class Cell:
    """One model of a study: a language pair, an objective and a seed, and the portion of the steps that it takes."""

    transform: Transform
    objective: Objective
    seed: int
    portion: float = 1.0

    @property
    def name(self) -> str:
        """For people: `trans.inv/ALIGN-MLM/seed-0`."""
        return f"{self.transform.name}/{self.objective.name}/seed-{self.seed}"

    @property
    def start(self) -> Cell | None:
        """The model that this one begins with, if it does not begin with weights that are drawn."""
        if self.objective.traits.start is None:
            return None
        first, portion = self.objective.traits.start
        return Cell(self.transform, first, self.seed, self.portion * portion)

    def run(self, name: str, study: str, layers: int, given: Start | None) -> Run:
        """The model as records know it, in the folder `name`; `given` is what it begins with, if with no other cell."""
        start = self.start
        return Run(
            id=name,
            study=study,
            seed=self.seed,
            languages=(SOURCE, Described.of(self.transform)),
            objective=Described.of(self.objective),
            start=Start(Described.of(start.objective), start.portion / self.portion) if start else given,
            layers=layers,
        )
