"""MLM: masked language modelling on every language (Devlin et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from derive.languages import Languages
from pretrain.batch import Rows
from pretrain.data import PackedLines
from pretrain.learner import Learner
from pretrain.mask import MASK_RATE, Masking
from pretrain.model import prediction_loss
from pretrain.objective import Objective, Stream


class Monolingual(Stream):
    """Packed rows of each language, one language after the other."""

    def __init__(self, languages: Languages, length: int, mask_rate: float) -> None:
        self.weights = {"mlm": 1.0}
        self.masking = Masking.of(languages, mask_rate)
        self.packed = [PackedLines(language, languages.specials, length) for language in languages.languages]
        self.ends = np.cumsum([len(packed) for packed in self.packed])
        self.instances = int(self.ends[-1])
        self.parts = {(packed.language.name,): len(packed) for packed in self.packed}
        self.left_out = {"ids in an unfilled last row": sum(packed.left_over for packed in self.packed)}

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Ids and language ids of instances, each (B, L) int64."""
        of = np.searchsorted(self.ends, instances, side="right")
        first = np.concatenate([[0], self.ends])[of]
        ids = np.stack([self.packed[k].row(i) for k, i in zip(of, np.asarray(instances) - first, strict=True)])
        return ids, np.repeat(of[:, None], ids.shape[1], axis=1)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = self.masking(ids, languages, random)
        return rows, {"mlm": rows.labelled}

    def losses(self, learner: Learner, batch: Rows) -> dict[str, Tensor]:
        return {"mlm": prediction_loss(learner.model, batch)}


@dataclass(frozen=True)
class MLM(Objective):
    """The sum of L_MLM(C) over the languages' corpora C (ALIGN-MLM, section 3), lines packed to full length."""

    mask_rate: float = MASK_RATE

    @property
    def name(self) -> str:
        return "MLM"

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Monolingual(languages, length, self.mask_rate)]
