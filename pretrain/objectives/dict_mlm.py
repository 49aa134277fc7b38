"""DICT-MLM: masked prediction on code-switched text (Chaudhary et al. 2020; ALIGN-MLM, appendix G.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from derive.languages import SOURCE, Languages
from pretrain.batch import Rows
from pretrain.mask import MASK_RATE, as_rows, labels_at
from pretrain.objective import Objective, Stream
from pretrain.objectives.mlm import Monolingual

Side = Literal["input", "label"]


class Translations:
    """The translation of each id by the dictionaries from the source; the id itself without an entry.

    A word of the source is translated into one of the other languages, drawn for each word; any other word into the
    source. Shapes: K languages, R rows of a model's table, N words.
    """

    def __init__(self, languages: Languages) -> None:
        self.languages = len(languages.languages)
        # (K, R): the image in language k of an id of the source, and the source's id of one of language k.
        self.images, self.sources = np.tile(np.arange(languages.rows), (2, self.languages, 1))
        for number, name in enumerate(languages.others, start=1):
            source, image = languages.dictionary(SOURCE, name).T
            self.images[number, source], self.sources[number, image] = image, source

    def __call__(
        self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Translations of `ids` of `languages`, and the languages that they are of, all (N,)."""
        into = random.integers(1, self.languages, len(ids))  # of two languages there is nothing to draw
        of_source = languages == 0
        translated = np.where(of_source, self.images[into, ids], self.sources[languages, ids])
        return translated, np.where(translated == ids, languages, np.where(of_source, into, 0))


class CodeSwitched(Monolingual):
    """Monolingual rows with half of the selected positions translated by the dictionaries."""

    def __init__(self, languages: Languages, length: int, mask_rate: float, side: Side) -> None:
        super().__init__(languages, length, mask_rate)
        self.side = side
        self.translate = Translations(languages)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        selected, fate = self.masking.select(ids, random)
        switched = random.random(len(selected)) < 0.5
        at = selected[switched]
        translated, translated_languages = self.translate(ids.reshape(-1)[at], languages.reshape(-1)[at], random)
        labels = labels_at(ids, selected)
        if self.side == "label":
            shown = self.masking.corrupt(ids, languages, selected, fate, random)
            labels.reshape(-1)[at] = translated
        else:
            shown = self.masking.corrupt(ids, languages, selected[~switched], fate[~switched], random)
            shown.reshape(-1)[at] = translated
            # A word is shown with its own language's embedding, so one that was translated changes sides.
            languages.reshape(-1)[at] = translated_languages
        return as_rows(shown, labels, languages, padded=False), {"mlm": len(selected)}


@dataclass(frozen=True)
class DictMLM(Objective):
    """Half of the selected positions show the token's image and ask for the token (the paper's own runs).

    `side="label"` masks as usual and asks for the image instead (Chaudhary et al. 2020). A token without
    an entry in the dictionary is its own image: visible, or its own label.
    """

    side: Side = "input"
    mask_rate: float = MASK_RATE

    @property
    def name(self) -> str:
        return "DICT-MLM" if self.side == "input" else "DICT-MLM-label"

    @property
    def language_embeddings(self) -> bool:
        return True

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [CodeSwitched(languages, length, self.mask_rate, self.side)]
