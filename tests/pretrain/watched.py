"""An objective that writes down which rows this process gets, and changes nothing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import Module

from derive.languages import Languages
from pretrain.distributed import World
from pretrain.model import Learner
from pretrain.objective import Objective, Stream, Traits

SEEN: list[list[str]] = []
"""The rows of each stream's part of each step, in the order in which streams were asked."""


@dataclass(frozen=True)
class Watched(Objective):
    """Another objective, watched."""

    of: Objective

    @property
    def name(self) -> str:
        return f"watched {self.of.name}"

    @property
    def traits(self) -> Traits:
        traits = self.of.traits
        return replace(traits, start=traits.start and (Watched(traits.start[0]), traits.start[1]))

    def modules(self, model: Any) -> dict[str, Module]:
        return self.of.modules(model)

    def learner(self, model: Any, seed: int) -> Learner:
        return self.of.learner(model, seed)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [_Watched(stream) for stream in self.of.streams(languages, length, seed)]


class _Watched(Stream):
    def __init__(self, of: Stream) -> None:
        self.of = of
        self.weights, self.instances, self.parts = of.weights, of.instances, of.parts
        self.left_out, self.uncounted = of.left_out, of.uncounted
        self.rows: list[str] = []

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Any, dict[str, int]]:
        return self.of.draw(instances, random)

    def pieces(self, part: Any) -> Sequence[Any]:
        self.rows += rows_of(part)
        return self.of.pieces(part)

    def before_step(self, learner: Learner, parts: Sequence[Any], world: World) -> tuple[Sequence[Any], dict[str, int]]:
        SEEN.append(self.rows)
        self.rows = []
        return self.of.before_step(learner, parts, world)

    def losses(self, learner: Learner, batch: Any) -> dict[str, Tensor]:
        return self.of.losses(learner, batch)


def rows_of(batch: Any) -> list[str]:
    """A digest of each row of a batch."""
    return [hashlib.sha256(_bytes(batch.part(i, len(batch)))).hexdigest()[:16] for i in range(len(batch))]


def _bytes(value: Any) -> bytes:
    if isinstance(value, Tensor):
        return value.numpy().tobytes()
    if dataclasses.is_dataclass(value):
        return b"".join(_bytes(getattr(value, field.name)) for field in dataclasses.fields(value))
    return str(value).encode()
