"""XLM: MLM and translation language modelling, with language embeddings (Conneau and Lample 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from derive.corpus import Corpus
from derive.errors import BadInput
from derive.types import END, PAD, START
from pretrain.batch import Rows
from pretrain.data import DERIVED, PADDING, SOURCE, LanguagePair, fill
from pretrain.mask import SHARE, mask
from pretrain.model import prediction_loss
from pretrain.objective import Objective, Stream, Sum
from pretrain.objectives.mlm import MLM


class Parallel(Stream):
    """Parallel sentences, as many as fit: source ids in the first half of a row, derived in the second.

    Each half is `<s>`, lines closed by `</s>`, padding (ALIGN-MLM, appendix G.3).

    Raises:
        BadInput: no pair of parallel sentences fits.
    """

    def __init__(self, pair: LanguagePair, length: int, sentences: float, share: float, seed: int) -> None:
        self.weights = {"tlm": 1.0}
        self.pair, self.half, self.share = pair, length // 2, share
        sample = pair.parallel(sentences, seed)
        source_length = np.diff(pair.source.lines)[pair.derived.source_line[sample]] + 1
        derived_length = np.diff(pair.derived.lines)[sample] + 1
        fits = (source_length < self.half) & (derived_length < self.half)
        self.left_out = {"parallel sentences longer than half a row": int((~fits).sum())}
        self.sample = sample[fits]
        self.groups = fill(source_length[fits], derived_length[fits], self.half - 1)
        self.instances = len(self.groups)
        if not self.instances:
            raise BadInput(f"none of {len(sample):,} parallel sentences fits into {self.half:,} ids a side")

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Ids and language ids of instances, each (B, L) int64."""
        ids = np.full((len(instances), 2 * self.half), PAD)
        for row, instance in zip(ids, instances, strict=True):
            lines = self.sample[slice(*self.groups[instance])]
            _write(row[: self.half], self.pair.source, self.pair.derived.source_line[lines])
            _write(row[self.half :], self.pair.derived, lines)
        languages = np.repeat((SOURCE, DERIVED), self.half)
        return ids, np.where(ids == PAD, PADDING, languages)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = mask(ids, languages, self.pair.image, random, self.share, padded=True)
        rows = replace(rows, positions=torch.from_numpy(self._positions(ids)))
        return rows, {"tlm": rows.labelled}

    def _positions(self, ids: np.ndarray) -> np.ndarray:
        """Each half counts from the start, as in Conneau and Lample (2019); padding has padding's position."""
        words = (ids != PAD).reshape(len(ids), 2, self.half)
        return (np.cumsum(words, axis=2) * words + PAD).reshape(ids.shape)

    def losses(self, model: Any, batch: Rows) -> dict[str, Tensor]:
        return {"tlm": prediction_loss(model, batch)}


def _write(half: np.ndarray, corpus: Corpus, lines: np.ndarray) -> None:
    """Write `<s>` and lines, each closed by `</s>`, over the padding of half a row."""
    half[0], used = START, 1
    for line in lines:
        ids = corpus[line]
        half[used : used + len(ids)] = ids
        used += len(ids) + 1
        half[used - 1] = END


@dataclass(frozen=True)
class TLM(Objective):
    """L_TLM(C1-2): masked prediction over a sentence and its translation at once.

    `sentences` is the share of the corpus's sentences that is parallel (Tables 1 and 6), `share` that of masks.
    """

    sentences: float = 0.25
    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 < self.sentences <= 1:
            raise ValueError(f"sentences is a share of the corpus, above 0 and up to 1, not {self.sentences}")

    @property
    def name(self) -> str:
        return "TLM"

    @property
    def language_embeddings(self) -> bool:
        return True

    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        return [Parallel(pair, length, self.sentences, self.share, seed)]


def xlm(sentences: float = 0.25, share: float = SHARE) -> Objective:
    """L_XLM = L_MLM(C1) + L_MLM(C2) + L_TLM(C1-2) (ALIGN-MLM, section 3)."""
    title = "XLM" if sentences == 0.25 else f"XLM-{sentences * 100:g}"
    return Sum(title, (MLM(share), TLM(sentences, share)))
