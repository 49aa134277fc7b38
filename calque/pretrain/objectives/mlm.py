"""MLM, masked language modelling on text in every language, and DICT-MLM and LINK, which also switch words to
their translations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import percent
from calque.derive.languages import Language
from calque.derive.vocabulary import Specials
from calque.pretrain.batch import MASK_RATE, Masking, Rows, labelled_rows
from calque.pretrain.model import prediction_loss
from calque.pretrain.objective import Counts, Learner, Losses, Objective, Random, Stream, Traits


class PackedLines:
    """A corpus as full rows: `<s>`, then ids of lines ending in `</s>`, without the last `left_over`."""

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

    def draw(self, instances: Sequence[int], random: Random) -> tuple[Rows, Counts]:
        rows = self.masked(*self.read(instances), random)
        return rows, {"mlm": rows.labelled}

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: Random) -> Rows:
        return self.masking(ids, languages, random)

    def losses(self, learner: Learner, batch: Rows) -> Losses:
        return {"mlm": prediction_loss(learner.model, batch)}


@dataclass(frozen=True)
class MLM(Objective):
    """MLM predicts masked words in monolingual sentences of every language.

    The loss is the sum of L_MLM(C) over all corpora C (ALIGN-MLM, section 3)."""

    mask_rate: float = MASK_RATE

    short_name = "MLM"
    stream_types = (Monolingual,)
    paper = "Devlin et al. 2019"


class CodeSwitched(Monolingual):
    """Rows in which half of the selected positions are translated; words without an entry stay the same.
    `images` maps each language to its target language and the images of all R rows, (R,)."""

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
        if 0 not in self.images:
            name = languages.languages[0].name
            raise BadInput(f"there is no dictionary with which to translate {name}", languages.folder)

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

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: Random) -> Rows:
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
    (ALIGN-MLM, appendix G.4; in Chaudhary et al. 2020, the image is the label)."""

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
    """MLM's rows, with a fraction of the first language's unmasked words translated."""

    def masked(self, ids: np.ndarray, languages: np.ndarray, random: Random) -> Rows:
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

    share: float = 0.25
    mask_rate: float = MASK_RATE

    short_name = "LINK"
    stream_types = (Switched,)
    forms = (percent("share", "-", "{percent} % of the words", "10"),)
    paper = "after Sedova et al. 2026"
    reads_dictionary = True
    limits: ClassVar = {"fractions": ["share"]}
