"""DICT-MLM: masked prediction on code-switched text (Chaudhary et al. 2020; ALIGN-MLM, appendix G.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import word
from calque.derive.languages import Languages
from calque.pretrain.batch import Rows
from calque.pretrain.mask import MASK_RATE, as_rows, labels_at
from calque.pretrain.objective import Stream, Traits
from calque.pretrain.objectives.mlm import Monolingual, TextObjective

Side = Literal["input", "label"]


class Translations:
    """Translates ids with the dictionaries between languages; ids without an entry stay the same. Each word's
    target language is sampled from the languages that share a dictionary with its own.

    Shapes: R rows in a model's table, N words, P languages that share a dictionary with a given language.
    """

    def __init__(self, languages: Languages) -> None:
        of: list[dict[int, np.ndarray]] = [{} for _ in languages.languages]
        for pair in languages.dictionaries:
            for own, other in (pair, pair[::-1]):
                images = _images(languages.dictionary(own, other), languages.rows)
                of[languages[own].number][languages[other].number] = images
        if not any(of):
            raise BadInput("there is no dictionary with which to translate words", languages.folder)
        self.partners = [np.array(sorted(own), np.int64) for own in of]  # (P,) per language
        # (P, R) per language
        self.images = [np.stack([own[i] for i in sorted(own)]) if own else None for own in of]

    def __call__(
        self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Translate `ids`, which belong to `languages`; return the translations and their languages. All are
        (N,)."""
        most = max(map(len, self.partners))
        drawn = random.integers(0, most, len(ids))
        translated, of = ids.copy(), languages.copy()
        for number, (partners, images) in enumerate(zip(self.partners, self.images, strict=True)):
            here = np.flatnonzero(languages == number)
            if images is None or not len(here):
                continue
            into = drawn[here] if len(partners) == most else random.integers(0, len(partners), len(here))
            translated[here] = images[into, ids[here]]
            of[here] = np.where(translated[here] == ids[here], number, partners[into])
        return translated, of


def _images(entries: np.ndarray, rows: int) -> np.ndarray:
    """Map each of the R rows to the image in its first dictionary entry, or to itself; `entries` is (n,
    2)."""
    image = np.arange(rows)
    first = np.unique(entries[:, 0], return_index=True)[1]
    image[entries[first, 0]] = entries[first, 1]
    return image


class CodeSwitched(Monolingual):
    """Monolingual rows; half of the positions selected for masking are translated."""

    def __init__(self, languages: Languages, length: int, mask_rate: float, side: Side) -> None:
        super().__init__(languages, length, mask_rate)
        self.side = side
        self.translate = Translations(languages)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        selected, fate = self.masking.select(ids, random)
        switched = random.random(len(selected)) < 0.5
        at = selected[switched]
        words, of = ids.reshape(-1)[at], languages.reshape(-1)[at]
        translated, translated_languages = self.translate(words, of, random)
        labels = labels_at(ids, selected)
        if self.side == "label":
            masked = self.masking.corrupt(ids, languages, selected, fate, random)
            labels.reshape(-1)[at] = translated
        else:
            masked = self.masking.corrupt(ids, languages, selected[~switched], fate[~switched], random)
            masked.reshape(-1)[at] = translated
            languages.reshape(-1)[at] = translated_languages  # each word gets the embedding of its language
        return as_rows(masked, labels, languages, padded=False), {"mlm": len(selected)}


@dataclass(frozen=True)
class DictMLM(TextObjective):
    """At half of the selected positions, the original id is the label and its image replaces it in the input
    (as in the ALIGN-MLM paper's runs). With `side="label"`, rows are masked as usual and the image is the
    label (Chaudhary et al. 2020). An id without a dictionary entry is its own image."""

    side: Side = "input"
    mask_rate: float = MASK_RATE

    short_name = "DICT-MLM"
    forms = (word("side", "label", "-label", "translations as labels"),)
    summary = "DICT-MLM is MLM on sentences with some words replaced by translations from a small dictionary."
    paper = "Chaudhary et al. 2020"

    reads_dictionary = True

    @property
    def traits(self) -> Traits:
        return replace(super().traits, language_embeddings=True)

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [CodeSwitched(languages, length, self.mask_rate, self.side)]
