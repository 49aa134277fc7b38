"""REPEL-MLM: MLM with a loss that keeps the embeddings of translations dissimilar, the opposite of
ALIGN-MLM."""

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
    """alpha * L_REPEL, where L_REPEL is the mean over dictionary pairs of max(0, cosine of the word
    embeddings). It cannot diverge, and it does not make embeddings opposite, which would be an alignment up
    to a rotation."""

    short_name = "REPEL"

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [DictionaryCosine(languages, self.alpha, "repel", torch.relu)]


@dataclass(frozen=True)
class RepelMLM(Composite):
    """L_REPEL-MLM = L_MLM + alpha * L_REPEL, with the same pairs and weight as ALIGN-MLM."""

    alpha: float = ALPHA
    mask_rate: float = MASK_RATE

    short_name = "REPEL-MLM"
    forms = (number("alpha", "-", "with weight {value}", "100", float),)
    summary = "REPEL-MLM is MLM that also keeps the embeddings of dictionary pairs from being similar."

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), Repel(self.alpha)
