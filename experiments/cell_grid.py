"""What studies have in common that train every objective on every derived language with every seed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace

from experiments.cell import Cell
from experiments.derived_study import DerivedStudy
from experiments.step import Step
from experiments.steps.languages import DeriveLanguages
from experiments.steps.pretraining import GivenModel, Pretrain
from experiments.study import begun_with_nothing
from pretrain.config import TrainConfig
from pretrain.mixture import ALL_TOGETHER, Mixture
from pretrain.objective import Objective

BEHIND = 2
"""Models whose evaluation waits: while the last model is trained on one core, others have something to do."""


class CellGrid(DerivedStudy):
    """A study of one model for each transform, objective and seed."""

    @property
    def cells(self) -> list[Cell]:
        """Every model, seeds outermost: a study that is stopped has whole seeds."""
        return [
            Cell(transform, objective, seed, self.pace(objective))
            for seed in self.seeds
            for transform in self.transforms
            for objective in self.objectives
        ]

    def pace(self, objective: Objective) -> float:
        """How many steps an objective takes, as a multiple of the study's."""
        return 1.0

    @property
    def starts(self) -> list[Cell]:
        """Every model that a cell begins with, once."""
        return list(dict.fromkeys(start for cell in self.cells if (start := cell.start)))

    @property
    @abstractmethod
    def given(self) -> GivenModel | None:
        """What all begin with but those that begin with another model of the study; None: with new weights."""

    @property
    def read(self) -> Mixture:
        """How much of each language is read."""
        return ALL_TOGETHER

    def train_of(self, cell: Cell) -> TrainConfig:
        """How a cell is trained: with its start it takes as many steps as any other."""
        steps = round(self.train.steps * cell.portion)
        return replace(self.train, steps=steps - (self.train_of(cell.start).steps if cell.start else 0))

    def pretraining(self, languages: DeriveLanguages, cell: Cell) -> Pretrain:
        """The step that pretrains a cell's model."""
        return Pretrain(
            above=languages.home / cell.transform.name / cell.objective.name,
            data=languages,
            languages=(cell.transform.name,),
            objective=cell.objective,
            model=self.model,
            train=self.train_of(cell),
            seed=cell.seed,
            threads=self.threads,
            start=self.pretraining(languages, cell.start) if cell.start else self.given,
            mixture=self.read,
        )

    def mistakes(self) -> list[str]:
        return super().mistakes() + ([] if self.given else begun_with_nothing(self.objectives))

    def mistaken_portions(self) -> Iterable[str]:
        """What is wrong with the training of cells that take a part of the steps."""
        return dict.fromkeys(
            f"{cell.objective.name}, of {train.steps} steps: train.{mistake}"
            for cell in (*self.starts, *self.cells)
            if (train := self.train_of(cell)) != self.train
            for mistake in train.mistakes()
        )


def measured_behind(models: Sequence[tuple[Pretrain, Sequence[Step]]]) -> list[Step]:
    """The steps of models in the order in which they are best computed: each one's evaluations after two more models.

    Side by side, steps begin in their order. With a model's evaluations right behind it the last model would be trained
    alone at the end.
    """
    steps: list[Step] = []
    for place, (run, _) in enumerate(models):
        steps.append(run)
        steps += models[place - BEHIND][1] if place >= BEHIND else []
    return steps + [step for _, evaluations in models[-BEHIND:] for step in evaluations]
