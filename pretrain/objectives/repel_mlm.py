"""REPEL-MLM: MLM that also keeps the embeddings of dictionary words dissimilar, the opposite of ALIGN-MLM."""

from __future__ import annotations

from dataclasses import dataclass

from calque.derive.forms import number
from calque.derive.languages import Languages
from calque.pretrain.lazy import torch
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.objective import Composite, Objective, Stream
from calque.pretrain.objectives.align_mlm import ALPHA, Align, DictionaryCosine
from calque.pretrain.objectives.mlm import MLM


@dataclass(frozen=True)
class Repel(Align):
    """alpha * L_REPEL: the mean positive part of the cosine of the raw word-embedding rows of all dictionary
    pairs. It is 0 once no pair has a positive cosine, so it cannot diverge. It does not make rows opposite,
    which would again be alignment up to a rotation."""

    short_name = "REPEL"

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [DictionaryCosine(languages, self.alpha, "repel", torch.relu)]


@dataclass(frozen=True)
class RepelMLM(Composite):
    """L_REPEL-MLM = L_MLM + alpha * L_REPEL, with ALIGN-MLM's pairs and weight."""

    alpha: float = ALPHA
    mask_rate: float = MASK_RATE

    short_name = "REPEL-MLM"
    forms = (number("alpha", "-", "with weight {value}", "100", float),)
    summary = "REPEL-MLM is MLM that also keeps the embeddings of dictionary pairs from being similar."

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), Repel(self.alpha)
