"""MLM: masked language modelling on every language (Devlin et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from derive.errors import BadInput
from derive.language import Language
from derive.languages import Languages
from derive.types import Specials
from pretrain.batch import Rows
from pretrain.mask import MASK_RATE, Masking
from pretrain.model import Learner, prediction_loss
from pretrain.objective import Objective, Stream, Traits

EVERY = 256
"""Lines from one whose place is kept to the next."""


class PackedLines:
    """A language's corpus as full rows: `<s>`, then lines, each closed by `</s>`, cut wherever the row ends.

    Nothing is padded; the last, unfilled row is left out (`left_over` ids).
    """

    def __init__(self, language: Language, specials: Specials, length: int) -> None:
        corpus = language.corpus
        self.language, self.specials, self.length = language, specials, length
        self.tokens = np.asarray(corpus.tokens)  # the same map; slices of a plain array are cheaper to make
        self.lines = np.asarray(corpus.lines)
        # Where every 256th line's `</s>` is in the endless line of all lines; all of them would fill the memory.
        self._marks = self.lines[EVERY::EVERY] + np.arange(EVERY - 1, len(corpus), EVERY)
        self._steps = np.arange(EVERY + length)
        total = len(self.tokens) + len(corpus)
        self._rows, self.left_over = divmod(total, length - 1)
        if not self._rows:
            raise BadInput(f"{language.name}: a corpus of {total:,} ids does not fill one row of {length:,}")

    def __len__(self) -> int:
        return self._rows

    def row(self, number: int) -> np.ndarray:
        start, stop = number * (self.length - 1), (number + 1) * (self.length - 1)
        before = EVERY * int(np.searchsorted(self._marks, start))  # so many lines end before the row, or some more
        lines = self.lines[before + 1 : before + 1 + len(self._steps)]
        ends = lines + self._steps[: len(lines)]  # less `before`
        first, last = np.searchsorted(ends, (start - before, stop - before))
        ids = np.empty(self.length, np.int64)
        inside = np.ones(self.length, bool)
        marks = ends[first:last] + (before - start + 1)
        inside[0] = False
        inside[marks] = False
        ids[0] = self.specials.start
        ids[marks] = self.specials.end
        ids[inside] = self.language.ids(self.tokens[start - before - first : stop - before - last])
        return ids


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


class TextObjective(Objective):
    """It predicts `mask_rate` of the ids of text."""

    mask_rate: float

    @property
    def traits(self) -> Traits:
        return Traits(mask_rate=self.mask_rate)


@dataclass(frozen=True)
class MLM(TextObjective):
    """The sum of L_MLM(C) over the languages' corpora C (ALIGN-MLM, section 3), lines packed to full length."""

    mask_rate: float = MASK_RATE

    short_name = "MLM"
    summary = "MLM predicts masked words in sentences of either language."
    paper = "Devlin et al. 2019"

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Monolingual(languages, length, self.mask_rate)]
