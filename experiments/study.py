"""A study: which languages, objectives, tasks and seeds, at which scale. Plain values; functions return one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from analysis.tasks.finetune import FinetuneConfig
from derive.build import study_fingerprint
from derive.dictionary import DictionaryConfig
from derive.files import fingerprint
from derive.source import Source
from derive.transform import Transform
from derive.types import FIRST
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective
from pretrain.objectives.after import After
from pretrain.start import WEIGHTS, weights_digest

SAMPLE = 100
"""Types on which a study's transforms are tried out."""


@dataclass(frozen=True)
class Cell:
    """One model of a study: a language pair, an objective and a seed, and the portion of the steps that it takes."""

    transform: Transform
    objective: Objective
    seed: int
    portion: float = 1.0

    @property
    def name(self) -> str:
        """For people and folders: `trans.inv/ALIGN-MLM/seed-0`."""
        return f"{self.transform.name}/{self.objective.name}/seed-{self.seed}"

    @property
    def start(self) -> Cell | None:
        """The model that this one begins with, if it does not begin with weights that are drawn."""
        if not isinstance(self.objective, After):
            return None
        return Cell(self.transform, self.objective.first, self.seed, self.portion * self.objective.portion)


@dataclass(frozen=True)
class Study:
    """What is derived, pretrained and evaluated, and at which scale.

    `threads` is how many a cell computes with; it is part of what a run's bits depend on. `finetune` has one
    entry a task, and the tasks evaluated are those that it names. `start` is the checkpoint that models begin with, but
    for those that begin with another of the study. `paper` is the one whose tables, figures and claims the report has.
    """

    name: str
    scale: str
    source: Source
    transforms: tuple[Transform, ...]
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    vocabulary: int
    finetune: dict[str, FinetuneConfig]
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1
    start: Path | None = None
    paper: Literal["align_mlm", "xlm_align"] = "align_mlm"

    @property
    def cells(self) -> list[Cell]:
        """Every model, seeds outermost: a study that is stopped has whole seeds."""
        return [
            Cell(transform, objective, seed)
            for seed in self.seeds
            for transform in self.transforms
            for objective in self.objectives
        ]

    @property
    def starts(self) -> list[Cell]:
        """Every model that a cell begins with, once."""
        return list(dict.fromkeys(start for cell in self.cells if (start := cell.start)))

    def train_of(self, cell: Cell) -> TrainConfig:
        """How a cell is trained: with its start it takes as many steps as any other."""
        steps = round(self.train.steps * cell.portion)
        return replace(self.train, steps=steps - (self.train_of(cell.start).steps if cell.start else 0))

    def mistakes(self) -> list[str]:
        """Everything that is wrong with this study, in words; an empty list if nothing is."""
        wrong = [f"model.{mistake}" for mistake in self.model.mistakes()]
        wrong += [f"train.{mistake}" for mistake in self.train.mistakes()]
        named = {
            "transforms": [transform.name for transform in self.transforms],
            "objectives": [objective.name for objective in self.objectives],
            "seeds": [str(seed) for seed in self.seeds],
        }
        for key, values in named.items():
            if not values:
                wrong.append(f"{key} names at least one")
            if len(set(values)) < len(values):
                wrong.append(f"{key} names one twice: {', '.join(values)}")
        wrong += [mistake for objective in self.objectives for mistake in objective.mistakes(self.model)]
        if self.start and not (self.start / WEIGHTS).is_file():
            wrong.append(f"start is the folder of a checkpoint, and {self.start} has no {WEIGHTS}")
        wrong += dict.fromkeys(
            f"{cell.objective.name}, of {train.steps} steps: train.{mistake}"
            for cell in (*self.starts, *self.cells)
            if (train := self.train_of(cell)) != self.train
            for mistake in train.mistakes()
        )
        for transform in self.transforms:
            try:
                transform.image(SAMPLE)
            except ValueError as error:
                wrong.append(f"transforms: {error}")
        if any(seed < 0 for seed in self.seeds):
            wrong.append("seeds are 0 or more")
        if self.vocabulary <= FIRST:
            wrong.append(f"vocabulary is above {FIRST}, the number of special types, not {self.vocabulary}")
        for task, config in self.finetune.items():
            wrong += [f"finetune.{task}.{mistake}" for mistake in config.mistakes()]
        if not self.finetune:
            wrong.append("finetune names at least one task")
        if self.threads < 1:
            wrong.append(f"threads is at least 1, not {self.threads}")
        return wrong

    @cached_property
    def _source_fingerprints(self) -> dict[bool, str]:
        return {}

    def _source_fingerprint(self, trees: bool) -> str:
        """The source's, with or without its trees, remembered: its files are read for it."""
        if trees not in self._source_fingerprints:
            self._source_fingerprints[trees] = self.source.fingerprint(trees)
        return self._source_fingerprints[trees]

    @property
    def data_fingerprint(self) -> str:
        """Changes with anything that the derived languages depend on."""
        return study_fingerprint(self._source_fingerprint, self.transforms, self.vocabulary, self.dictionary)

    def run_fingerprint(self, cell: Cell) -> str:
        """Changes with anything that a cell's weights depend on, but for the machine; other cells are nothing to it."""
        language = study_fingerprint(self._source_fingerprint, [cell.transform], self.vocabulary, self.dictionary)
        facts = [language, cell.objective, cell.seed, self.model, self.train_of(cell)]
        return fingerprint(*facts, *([weights_digest(self.start)] if self.start else []))
