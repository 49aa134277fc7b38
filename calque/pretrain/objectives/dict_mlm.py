"""Masked prediction on code-switched text: DICT-MLM (Chaudhary et al. 2020; ALIGN-MLM, appendix G.4) and LINK
(after Sedova et al. 2026)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import percent
from calque.pretrain.batch import Rows
from calque.pretrain.masking import MASK_RATE, labelled_rows
from calque.pretrain.objective import Objective, Traits
from calque.pretrain.objectives.mlm import Monolingual

SHARE = 0.25


class CodeSwitched(Monolingual):
    """Rows in which half of the selected positions are translated with dictionaries; words without an entry
    stay the same. `images` maps each language to its target language and the images of all R rows, (R,)."""

    def prepare(self) -> None:
        super().prepare()
        languages = self.languages
        self.images = dict[int, tuple[int, np.ndarray]]()
        for pair in languages.dictionaries:
            for language, target in (pair, pair[::-1]):
                entries, image = languages.dictionary(language, target), np.arange(languages.rows)
                image[entries[::-1, 0]] = entries[::-1, 1]  # reversed, so that a word's first entry wins
                if languages[language].number in self.images:
                    raise BadInput(f"{language} has two dictionaries; expected one", languages.folder)
                self.images[languages[language].number] = languages[target].number, image
        if not self.images:
            raise BadInput("there is no dictionary with which to translate words", languages.folder)

    def translate(
        self, ids: np.ndarray, languages: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the translations of the ids at flat positions, and their languages, both (N,)."""
        ids, languages = ids.reshape(-1)[positions], languages.reshape(-1)[positions]
        translated, targets = ids.copy(), languages.copy()
        for language, (target, image) in self.images.items():
            words = np.flatnonzero(languages == language)
            translated[words] = image[ids[words]]
            targets[words] = np.where(translated[words] == ids[words], language, target)
        return translated, targets

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator) -> Rows:
        selected, fate = self.masking.select(ids, random)
        is_switched = random.random(len(selected)) < 0.5
        switched, unswitched = selected[is_switched], selected[~is_switched]
        translated, targets = self.translate(ids, languages, switched)
        masked = self.masking.corrupt(ids, languages, unswitched, fate[~is_switched], random)
        masked.reshape(-1)[switched] = translated
        languages.reshape(-1)[switched] = targets  # each word gets the embedding of its language
        return labelled_rows(ids, masked, selected, languages, padded=False)


@dataclass(frozen=True)
class DictMLM(Objective):
    """DICT-MLM is MLM on text in which some words are replaced by translations from a dictionary.

    At half of the selected positions, the original id is the label, and its image replaces it in the input
    (as in the ALIGN-MLM paper's runs; in Chaudhary et al. 2020, the image is the label)."""

    mask_rate: float = MASK_RATE

    former_fields: ClassVar = {"side": "input"}
    short_name = "DICT-MLM"
    stream_types = (CodeSwitched,)
    paper = "Chaudhary et al. 2020"

    reads_dictionary = True

    @property
    def traits(self) -> Traits:
        return replace(super().traits, language_embeddings=True)


class Switched(CodeSwitched):
    """Rows masked as for MLM, with a fraction of the first language's unmasked words translated."""

    objective: Link

    def prepare(self) -> None:
        super().prepare()
        if 0 not in self.images:
            name = self.languages.languages[0].name
            raise BadInput(f"there is no dictionary with which to translate {name}", self.languages.folder)

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: np.random.Generator) -> Rows:
        rows = self.masking(ids, languages, random)
        masked = rows.ids.numpy()
        visible = (masked == ids) & self.masking.specials.is_ordinary(ids) & (languages == 0)
        positions = np.flatnonzero(visible & (random.random(ids.shape, np.float32) < self.objective.share))
        masked.reshape(-1)[positions], _ = self.translate(ids, languages, positions)
        return rows


@dataclass(frozen=True)
class Link(Objective):
    """LINK is MLM in which some source words are replaced by their translations in the input but not in
    the labels.

    LINK uses no language embeddings."""

    share: float = SHARE
    mask_rate: float = MASK_RATE

    short_name = "LINK"
    stream_types = (Switched,)
    forms = (percent("share", "-", "{percent} % of the words", "10"),)
    paper = "after Sedova et al. 2026"

    reads_dictionary = True
    limits: ClassVar = {"fractions": ["share"]}
