"""MLM: masked language modelling on text in every language (Devlin et al. 2019)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.languages import Language
from calque.derive.vocabulary import Specials
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import Tensor
from calque.pretrain.masking import MASK_RATE, Masking
from calque.pretrain.model import prediction_loss
from calque.pretrain.objective import Learner, Objective, Stream


class PackedLines:
    """A corpus divided into full rows: `<s>`, then consecutive ids of lines ending in `</s>`, except for the
    last `left_over` ids."""

    def __init__(self, language: Language, specials: Specials, length: int) -> None:
        corpus = language.corpus
        self.language, self.specials, self.length = language, specials, length
        self.tokens, self.lines = corpus.tokens.values, corpus.tokens.ends
        total = len(self.tokens) + len(corpus)
        self._rows, self.left_over = divmod(total, length - 1)
        if not self._rows:
            raise BadInput(f"{language.name}: the corpus has {total:,} ids, too few for a row of {length:,}")

    def __len__(self) -> int:
        return self._rows

    def row(self, number: int) -> np.ndarray:
        """Return the ids of a row, (L,) int64."""
        start, stop = number * (self.length - 1), (number + 1) * (self.length - 1)
        first = self._ended(start, 0, len(self.language.corpus))
        last = self._ended(stop, first, min(first + self.length, len(self.language.corpus)))
        # A `</s>` follows each line's end and the earlier lines' `</s>`.
        marks = self.lines[first + 1 : last + 1] + np.arange(first, last) + (1 - start)
        ids, inside = np.empty(self.length, np.int64), np.ones(self.length, bool)
        inside[0] = inside[marks] = False
        ids[0], ids[marks] = self.specials.start, self.specials.end
        ids[inside] = self.language.ids(self.tokens[start - first : stop - last])
        return ids

    def _ended(self, place: int, low: int, high: int) -> int:
        """Return how many lines end before `place`; it is between `low` and `high`."""
        return bisect_left(range(high), place, low, high, key=lambda line: int(self.lines[line + 1]) + line)


class Monolingual(Stream):
    def prepare(self) -> None:
        self.weights, specials = {"mlm": 1.0}, self.languages.specials
        self.masking = Masking(specials, self.languages.tables, self.objective.mask_rate)
        self.packed = [PackedLines(language, specials, self.length) for language in self.languages.languages]
        self.ends = np.cumsum([len(packed) for packed in self.packed])
        self.instances = int(self.ends[-1])
        self.parts = {(packed.language.name,): len(packed) for packed in self.packed}
        self.left_out = {"ids in an unfilled last row": sum(packed.left_over for packed in self.packed)}

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return rows' ids and languages, both (B, L)."""
        languages = np.searchsorted(self.ends, instances, side="right")
        places = np.asarray(instances) - np.concatenate([[0], self.ends])[languages]
        ids = np.stack([self.packed[k].row(i) for k, i in zip(languages, places, strict=True)])
        return ids, np.repeat(languages[:, None], ids.shape[1], axis=1)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        rows = self.masked(*self.read(instances), random)
        return rows, {"mlm": rows.labelled}

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator) -> Rows:
        return self.masking(ids, languages, random)

    def losses(self, learner: Learner, batch: Rows) -> dict[str, Tensor]:
        return {"mlm": prediction_loss(learner.model, batch)}


@dataclass(frozen=True)
class MLM(Objective):
    """MLM predicts masked words in monolingual sentences of every language.

    The loss is the sum of L_MLM(C) over all corpora C (ALIGN-MLM, section 3)."""

    mask_rate: float = MASK_RATE

    short_name = "MLM"
    stream_types = (Monolingual,)
    paper = "Devlin et al. 2019"
