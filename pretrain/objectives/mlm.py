"""MLM: masked language modelling on both languages (Devlin et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from pretrain.batch import Rows
from pretrain.data import DERIVED, SOURCE, LanguagePair, PackedLines
from pretrain.mask import SHARE, mask
from pretrain.model import prediction_loss
from pretrain.objective import Objective, Stream


class Monolingual(Stream):
    """Packed rows of the source language, then those of the derived one."""

    def __init__(self, pair: LanguagePair, length: int, share: float) -> None:
        self.weights = {"mlm": 1.0}
        self.pair, self.share = pair, share
        self.packed = PackedLines(pair.source, length), PackedLines(pair.derived, length)
        self.instances = sum(map(len, self.packed))
        self.left_out = {"ids in an unfilled last row": sum(packed.left_over for packed in self.packed)}

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Ids and language ids of instances, each (B, L) int64."""
        source, derived = self.packed
        ids = np.stack([source.row(i) if i < len(source) else derived.row(i - len(source)) for i in instances])
        languages = np.where(np.asarray(instances) < len(source), SOURCE, DERIVED)
        return ids, np.repeat(languages[:, None], ids.shape[1], axis=1)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = mask(ids, languages, self.pair.image, random, self.share)
        return rows, {"mlm": rows.labelled}

    def losses(self, model: Any, batch: Rows) -> dict[str, Tensor]:
        return {"mlm": prediction_loss(model, batch)}


@dataclass(frozen=True)
class MLM(Objective):
    """L_MLM(C1) + L_MLM(C2) (ALIGN-MLM, section 3), lines packed to full length."""

    share: float = SHARE

    @property
    def name(self) -> str:
        return "MLM"

    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        return [Monolingual(pair, length, self.share)]
