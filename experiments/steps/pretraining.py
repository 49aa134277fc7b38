"""The step that pretrains one model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from experiments.step import Cost, Machine, Stage, Step
from experiments.steps.languages import LanguagesStep
from pretrain.config import ModelConfig, TrainConfig
from pretrain.cost import flops_per_id, parameters, training_bytes
from pretrain.objective import Objective
from pretrain.run import Pretraining, pretrain
from pretrain.start import RUN, weights_digest

if TYPE_CHECKING:
    from analysis.measures.alignment import Types

TOKEN_TYPES = 2
"""Token types that a model of two languages has for telling them apart, beyond the one that every model has."""
PROCESS = 400 * 2**20
"""Bytes that Python, torch and transformers take before there is a model; on a GPU they are not in its memory."""


@dataclass(frozen=True)
class Pretrain(Step):
    """One model: an objective on the source of `data` and its language `language`.

    `above` is the folder that the runs of all seeds share. `start` is the step, or the checkpoint, whose model this one
    begins with.
    """

    above: Path
    data: LanguagesStep
    language: str
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int
    threads: int = 1
    start: Pretrain | Path | None = None

    stage: ClassVar[Stage] = "pretrain"
    kind: ClassVar[str] = RUN
    format: ClassVar[int] = 2
    shared: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """For people: `trans.inv/MLM/seed-0`."""
        return "/".join(self.place.parts[-3:])

    @property
    def place(self) -> Path:
        return self.above / f"seed-{self.seed}"

    @property
    def title(self) -> str:
        return f"pretrain {self.name}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.data, self.start) if isinstance(self.start, Pretrain) else (self.data,)

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        facts = {
            "language": self.data.language(self.language),
            "objective": self.objective,
            "seed": self.seed,
            "model": self.model,
        }
        start = (
            self.start.fingerprint if isinstance(self.start, Pretrain) else self.start and weights_digest(self.start)
        )
        changed = {"objective's format": self.objective.format} if self.objective.format > 1 else {}
        return facts | {"train": self.train.recipe} | ({"start": start} if start else {}) | changed

    @property
    def checkpoint(self) -> Path:
        """The folder that transformers loads."""
        return self.folder / "checkpoint"

    @property
    def steps_before(self) -> int:
        """Steps of pretraining behind the model that this one begins with, if that is of the same study."""
        return self.start.steps_before + self.start.train.steps if isinstance(self.start, Pretrain) else 0

    def __call__(self, machine: Machine) -> None:
        from analysis.measures.alignment import Types, alignment_of_model

        types = Types.open(self.data.folder, self.language)

        def probe(model: Any) -> dict[str, float]:
            return {metric: fraction for metric, (fraction, _) in alignment_of_model(model, types).shares.items()}

        pretrain(
            self.folder,
            Pretraining(
                self.data.folder,
                (self.language,),
                self.objective,
                self.model,
                self.train,
                self.seed,
                self.start.checkpoint if isinstance(self.start, Pretrain) else self.start,
            ),
            machine.world,
            probe=probe if alignable(types) else None,
            progress=lambda step, steps: machine.report(self.title, step, steps),
            allow_change=machine.allow_change,
        )

    def cost(self) -> Cost:
        ids = self.train.steps * self.train.batch * self.model.length
        languages = TOKEN_TYPES * self.model.hidden if self.objective.language_embeddings else 0
        process = 0 if torch.cuda.is_available() else PROCESS
        rows = math.ceil(self.train.batch / self.train.grad_accumulation)
        return Cost(
            parameters(self.model, self.data.rows) + languages,
            ids * flops_per_id(self.model, self.data.rows, self.objective.mask_rate),
            process + training_bytes(self.model, self.data.rows, rows, self.objective.mask_rate) + 16 * languages,
        )


def alignable(types: Types) -> bool:
    """Whether any type changes: where the script stays, alignment@1 is not defined, and is not recorded."""
    return bool((types.image[types.types] != types.types).any())
