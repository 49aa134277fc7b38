"""ALIGN-MLM, which aligns the embeddings of dictionary words (ALIGN-MLM, section 3), and its opposite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import number
from calque.derive.languages import Languages
from calque.pretrain.batch import Pairs
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.masking import MASK_RATE
from calque.pretrain.objective import Composite, Learner, Objective, Stream, Traits
from calque.pretrain.objectives.mlm import MLM

ALPHA = 10.0


class DictionaryCosine(Stream):
    """All dictionary entries in every step; the objective's loss is summed over their cosines."""

    objective: Align

    def prepare(self) -> None:
        self.weights = {self.objective.term: self.objective.alpha}
        self.pairs = Pairs(torch.from_numpy(moved_entries(self.languages)[0]))

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Pairs, dict[str, int]]:
        return self.pairs, {self.objective.term: len(self.pairs)}

    def losses(self, learner: Learner, batch: Pairs) -> dict[str, Tensor]:
        # A sparse gradient contains only the dictionary's rows; a dense one would be as large as the table.
        rows = F.embedding(batch.ids, learner.model.get_input_embeddings().weight, sparse=True)
        cosines = F.cosine_similarity(rows[:, 0], rows[:, 1])
        return {self.objective.term: self.objective.loss(cosines).sum()}


def moved_entries(languages: Languages) -> tuple[np.ndarray, np.ndarray]:
    """Return the dictionary entries with two different ids, and their languages, both (n, 2) int64."""
    if not languages.dictionaries:
        raise BadInput("there is no dictionary, so there is nothing to align", languages.folder)
    dictionaries = [languages.dictionary(*pair) for pair in languages.dictionaries]
    numbers = [[languages[name].number for name in pair] for pair in languages.dictionaries]
    entries, sides = np.concatenate(dictionaries), np.repeat(numbers, list(map(len, dictionaries)), axis=0)
    moved = entries[:, 0] != entries[:, 1]
    if not moved.any():
        raise BadInput("the languages share all types in the dictionary, so there is nothing to align")
    return np.ascontiguousarray(entries[moved]), sides[moved]


@dataclass(frozen=True)
class Align(Objective):
    """alpha * L_ALIGN, the negative mean cosine between dictionary pairs' embeddings."""

    alpha: float = ALPHA

    short_name, term = "ALIGN", "align"
    stream_types = (DictionaryCosine,)
    limits: ClassVar = {"positive": ["alpha"]}
    traits = Traits(dictionary=True)

    def loss(self, cosines: Tensor) -> Tensor:
        return -cosines


@dataclass(frozen=True)
class Repel(Align):
    """alpha * L_REPEL, the mean of max(0, cosine), which cannot make embeddings opposite: that would align
    them up to a rotation."""

    short_name, term = "REPEL", "repel"

    def loss(self, cosines: Tensor) -> Tensor:
        return cosines.relu()


@dataclass(frozen=True)
class AlignMLM(Composite):
    """ALIGN-MLM adds to MLM a loss that pulls the embeddings of dictionary pairs together.

    L_ALIGN-MLM = L_MLM + alpha * L_ALIGN. The paper chose alpha from 1, 10 and 100 (appendix G.5)."""

    alpha: float = ALPHA
    mask_rate: float = MASK_RATE

    short_name = "ALIGN-MLM"
    forms = (number("alpha", "-", "with weight {value}", "100", float),)
    paper = "Tang et al. 2022"
    added: ClassVar[type[Align]] = Align

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), self.added(self.alpha)


@dataclass(frozen=True)
class RepelMLM(AlignMLM):
    """REPEL-MLM adds to MLM a loss that keeps the embeddings of dictionary pairs dissimilar.

    L_REPEL-MLM = L_MLM + alpha * L_REPEL."""

    short_name = "REPEL-MLM"
    paper = ""
    added = Repel
