"""LINK: source words are replaced by translations in the input, but not in the labels (after Sedova et al.
2026)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import percent
from calque.derive.languages import Languages
from calque.pretrain.batch import Rows
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.objective import Stream
from calque.pretrain.objectives.dict_mlm import Translations
from calque.pretrain.objectives.mlm import Monolingual, TextObjective

SHARE = 0.25


class Switched(Monolingual):
    """Rows masked as for MLM, with a fraction `share` of the first language's unmasked words translated."""

    def __init__(self, languages: Languages, length: int, mask_rate: float, share: float) -> None:
        super().__init__(languages, length, mask_rate)
        self.share, self.translate = share, Translations(languages)
        if self.translate.images[0] is None:
            name = languages.languages[0].name
            raise BadInput(f"there is no dictionary with which to translate {name}", languages.folder)

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = self.masking(ids, languages, random)
        masked = rows.ids.numpy()
        visible = (masked == ids) & self.masking.specials.is_ordinary(ids) & (languages == 0)
        at = np.flatnonzero(visible & (random.random(ids.shape, np.float32) < self.share))
        masked.reshape(-1)[at], _ = self.translate(ids.reshape(-1)[at], languages.reshape(-1)[at], random)
        return rows, {"mlm": rows.labelled}


@dataclass(frozen=True)
class Link(TextObjective):
    """MLM with a fraction `share` of the source's unmasked words replaced by their images, if they have
    dictionary entries. Labels are the original words. It uses no language embeddings."""

    share: float = SHARE
    mask_rate: float = MASK_RATE

    short_name = "LINK"
    forms = (percent("share", "-", "{percent} % of the words", "10"),)
    summary = (
        "LINK is MLM with some source words replaced by their translations in the input but not in the "
        "labels."
    )
    paper = "after Sedova et al. 2026"

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {self.share}")

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Switched(languages, length, self.mask_rate, self.share)]
