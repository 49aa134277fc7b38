"""The prediction head alone, while the encoder below it stays as it is: for a start that has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.nn import Module

from derive.languages import Languages
from pretrain.architecture import architecture_of
from pretrain.config import ModelConfig
from pretrain.cost import flops_per_id
from pretrain.learner import Learner
from pretrain.objective import Linked, Objective, Stream


@dataclass(frozen=True)
class HeadOnly(Objective):
    """`objective`, of whose model only the prediction head is trained; its table, which it shares, stays too.

    A head that is drawn asks for gradients that say nothing yet, and an encoder that follows them loses what it knew.
    With the encoder at rest a step costs less than half.

    Raises:
        ValueError: the objective begins with another model, which this would leave out.
    """

    objective: Objective

    def __post_init__(self) -> None:
        if self.objective.begins_with:
            raise ValueError(f"{self.objective.name} begins with another model")

    @property
    def name(self) -> str:
        return f"{self.objective.name}-head"

    @property
    def title(self) -> str:
        return f"{self.objective.title}, the prediction head alone"

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return self.objective.facets

    @property
    def format(self) -> int:
        return self.objective.format

    @property
    def language_embeddings(self) -> bool:
        return self.objective.language_embeddings

    @property
    def asked_links(self) -> Linked:
        return self.objective.asked_links

    @property
    def parallel_share(self) -> float:
        return self.objective.parallel_share

    @property
    def reads_text(self) -> bool:
        return self.objective.reads_text

    @property
    def mask_rate(self) -> float:
        return self.objective.mask_rate

    def flops_per_id(self, model: ModelConfig, types: int) -> float:
        return flops_per_id(model, types, self.mask_rate, resting=True)

    def pair_flops_per_id(self, model: ModelConfig, types: int, resting: bool = True) -> float:
        return self.objective.pair_flops_per_id(model, types, resting)

    def modules(self, model: Any) -> dict[str, Module]:
        return self.objective.modules(model)

    def learner(self, model: Any, seed: int) -> Learner:
        learner = super().learner(model, seed)
        head, table = architecture_of(model.config).head, model.get_input_embeddings().weight
        for name, parameter in model.named_parameters():  # each once, and XLM-R's table as the head's
            parameter.requires_grad_(name.startswith(f"{head}.") and parameter is not table)
        return learner

    def mistakes(self, model: ModelConfig) -> list[str]:
        return self.objective.mistakes(model)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return self.objective.streams(languages, length, seed)
