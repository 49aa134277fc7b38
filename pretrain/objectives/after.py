"""One objective after another: a cold start, as XLM-Align begins with a model that learnt before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.nn import Module

from derive.languages import Languages
from pretrain.config import ModelConfig
from pretrain.objective import Linked, Objective, Stream


@dataclass(frozen=True)
class After(Objective):
    """`then`, on the model that `first` made of the same languages with the same seed.

    `portion` of the steps are `first`'s, so that both together take as many as any other objective. Its model is a run
    of its own, from which others may begin too.

    Raises:
        ValueError: the portion leaves one of them nothing, one of them begins with another model itself, or one tells
            languages apart by an embedding and the other does not: its model would have another shape.
    """

    then: Objective
    first: Objective
    portion: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.portion < 1:
            raise ValueError(f"portion is a fraction of the steps, between 0 and 1, not {self.portion}")
        if self.first.begins_with or self.then.begins_with:
            raise ValueError(f"{self.name}: neither may begin with another model itself")
        if self.first.language_embeddings != self.then.language_embeddings:
            has = self.first if self.first.language_embeddings else self.then
            raise ValueError(f"{self.name}: only {has.name} has language embeddings")

    @property
    def name(self) -> str:
        split = "" if self.portion == 0.5 else f"-for-{self.portion * 100:g}"
        return f"{self.then.name}-after-{self.first.name}{split}"

    @property
    def title(self) -> str:
        split = "" if self.portion == 0.5 else f" ({self.portion * 100:g} % of the steps)"
        return f"{self.then.title} after {self.first.title}{split}"

    @property
    def format(self) -> int:
        return self.then.format

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return self.then.facets

    @property
    def language_embeddings(self) -> bool:
        return self.then.language_embeddings

    @property
    def asked_links(self) -> Linked:
        return self.then.asked_links

    @property
    def parallel_share(self) -> float:
        return self.then.parallel_share

    @property
    def reads_text(self) -> bool:
        return self.then.reads_text

    @property
    def predicts(self) -> bool:
        return self.then.predicts

    @property
    def mask_rate(self) -> float:
        return self.then.mask_rate

    def pair_flops_per_id(self, model: ModelConfig, types: int, resting: bool = False) -> float:
        return self.then.pair_flops_per_id(model, types, resting)

    @property
    def begins_with(self) -> tuple[Objective, float]:
        return self.first, self.portion

    def modules(self, model: Any) -> dict[str, Module]:
        return self.then.modules(model)

    def mistakes(self, model: ModelConfig) -> list[str]:
        return [*self.first.mistakes(model), *self.then.mistakes(model)]

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return self.then.streams(languages, length, seed)
