"""XLM: MLM and translation language modelling with language embeddings (Conneau and Lample 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calque.pretrain.batch import Rows
from calque.pretrain.bitext import PARALLEL, USUAL, PairObjective, PairStream
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.masking import MASK_RATE
from calque.pretrain.model import prediction_loss
from calque.pretrain.objective import Composite, Learner, Objective, Traits
from calque.pretrain.objectives.mlm import MLM


class Parallel(PairStream):
    """Rows of parallel sentences from one bitext, with the translations in the second half. Each half
    consists of `<s>`, lines that end in `</s>`, and padding (ALIGN-MLM, appendix G.3)."""

    sides = 2

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return rows' ids and languages, both (B, L)."""
        specials, width = self.languages.specials, self.room + 1
        ids = np.full((len(instances), 2 * width), specials.pad)
        languages = np.full_like(ids, self.languages.padding)
        for row_ids, row_languages, instance in zip(ids, languages, instances, strict=True):
            bitext = self.bitext_of(instance)
            for side, language in enumerate((bitext.first, bitext.second)):
                lines = language.corpus.tokens.take(bitext.lines[self.groups[instance], side])
                marks = [specials.start] + [specials.end] * len(lines)
                half = np.insert(language.ids(lines.values), lines.ends, marks)
                columns = slice(side * width, side * width + len(half))
                row_ids[columns], row_languages[columns] = half, language.number
        return ids, languages

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = self.masking(ids, languages, random, padded=True)
        # Positions restart in the second half, as in Conneau and Lample (2019).
        words = (ids != self.languages.specials.pad).reshape(len(ids), 2, -1)
        places = (np.cumsum(words, axis=2) * words - 1).reshape(ids.shape)
        return replace(rows, places=torch.from_numpy(places)), {"tlm": rows.labelled}

    def losses(self, learner: Learner, batch: Rows) -> dict[str, Tensor]:
        return {"tlm": prediction_loss(learner.model, batch)}


@dataclass(frozen=True)
class TLM(PairObjective):
    """L_TLM(C1-2): masked prediction in rows of sentences and their translations."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE

    short_name = "TLM"
    stream_types = (Parallel,)

    @property
    def traits(self) -> Traits:
        return replace(super().traits, language_embeddings=True)


@dataclass(frozen=True)
class XLM(Composite):
    """XLM combines MLM with the prediction of masked words in translated sentence pairs (TLM).

    L_XLM = L_MLM(C1) + L_MLM(C2) + L_TLM(C1-2) (ALIGN-MLM, section 3)."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE

    short_name = "XLM"
    forms = (PARALLEL,)
    paper = "Conneau and Lample 2019"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), TLM(self.parallel_fraction, self.mask_rate)
