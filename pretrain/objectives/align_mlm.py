"""ALIGN-MLM: MLM, and dictionary words pulled together (ALIGN-MLM, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from derive.errors import BadInput
from pretrain.batch import Pairs
from pretrain.data import LanguagePair
from pretrain.mask import SHARE
from pretrain.objective import Objective, Stream, Sum
from pretrain.objectives.mlm import MLM


class DictionaryCosine(Stream):
    """The whole dictionary every step, so there are no instances to draw.

    Raises:
        BadInput: the dictionary has no entry to align.
    """

    instances = 0

    def __init__(self, pair: LanguagePair, alpha: float) -> None:
        self.weights = {"align": alpha}
        self.left_out = {}
        # A type that both languages share is its own image and would count as aligned for nothing.
        moved = pair.dictionary[pair.dictionary[:, 0] != pair.dictionary[:, 1]]
        if not len(moved):
            raise BadInput("the dictionary has no entry of a type that changes; there is nothing to align")
        self.pairs = Pairs(torch.from_numpy(np.ascontiguousarray(moved)))

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Pairs, dict[str, int]]:
        return self.pairs, {"align": len(self.pairs)}

    def losses(self, model: Any, batch: Pairs) -> dict[str, Tensor]:
        # A sparse gradient touches the dictionary's rows only; a dense one would be the whole table again.
        rows = F.embedding(batch.ids, model.get_input_embeddings().weight, sparse=True)
        return {"align": -F.cosine_similarity(rows[:, 0], rows[:, 1]).sum()}


@dataclass(frozen=True)
class Align(Objective):
    """alpha * L_ALIGN: minus the mean cosine of the raw word-embedding rows of all dictionary pairs."""

    alpha: float = 10.0

    @property
    def name(self) -> str:
        return "ALIGN"

    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        return [DictionaryCosine(pair, self.alpha)]


def align_mlm(alpha: float = 10.0, share: float = SHARE) -> Objective:
    """L_ALIGN-MLM = L_MLM + alpha * L_ALIGN; alpha was chosen from 1, 10, 100 (appendix G.5)."""
    title = "ALIGN-MLM" if alpha == 10 else f"ALIGN-MLM-{alpha:g}"
    return Sum(title, (MLM(share), Align(alpha)))
