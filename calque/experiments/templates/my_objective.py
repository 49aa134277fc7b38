"""My own objective, and a study that uses it.

calque run my_objective.py
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from calque.experiments.studies.pocket import MASKS, pocket
from calque.experiments.study import Study
from calque.pretrain.batch import MASK_RATE, Pairs
from calque.pretrain.modules import Learner
from calque.pretrain.objective import Objective, Stream
from calque.pretrain.objectives.dictionary import moved_entries
from calque.pretrain.objectives.mlm import MLM, Monolingual


class Distances(Stream):
    """The squared distance between the embeddings of each dictionary word and its image."""

    instances = 0  # each step uses all entries, so none are sampled

    def prepare(self) -> None:
        self.weights = {"distance": self.objective.weight}  # the loss terms, each with its weight
        self.entries = Pairs(torch.from_numpy(moved_entries(self.languages)[0]))  # ids: (entries, 2)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Pairs, dict[str, int]]:
        return self.entries, {"distance": len(self.entries)}  # a batch, and the divisor of each loss term

    def losses(self, learner: Learner, batch: Pairs) -> dict[str, Tensor]:
        rows = learner.model.get_input_embeddings()(batch.ids)
        # A sum, which the training loop divides by the count.
        return {"distance": (rows[:, 0] - rows[:, 1]).square().sum()}


@dataclass(frozen=True)
class MyObjective(Objective):
    """MY-OBJECTIVE adds to MLM a loss that pulls the embeddings of dictionary pairs together."""

    weight: float = 1.0
    mask_rate: float = MASK_RATE

    short_name = "MY-OBJECTIVE"  # in commands, tables and folders
    stream_types = (Monolingual, Distances)  # classes of its streams


def my_objective() -> Study:
    """The pocket study with MLM and MyObjective."""
    return pocket().changed(name="my_objective", objectives=(MLM(MASKS), MyObjective(mask_rate=MASKS)))
