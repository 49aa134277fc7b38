"""DICT-MLM: masked prediction on code-switched text (Chaudhary et al. 2020; ALIGN-MLM, appendix G.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pretrain.batch import Rows
from pretrain.data import DERIVED, SOURCE, LanguagePair
from pretrain.mask import SHARE, as_rows, corrupt, labels_at, select
from pretrain.objective import Objective, Stream
from pretrain.objectives.mlm import Monolingual

Side = Literal["input", "label"]


class CodeSwitched(Monolingual):
    """Monolingual rows with half of the selected positions translated by the dictionary."""

    def __init__(self, pair: LanguagePair, length: int, share: float, side: Side) -> None:
        super().__init__(pair, length, share)
        self.side = side
        self.translation = np.arange(2 * pair.size)
        source, derived = pair.dictionary.T
        self.translation[source], self.translation[derived] = derived, source

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        selected, fate = select(ids, self.share, random)
        switched = random.random(len(selected)) < 0.5
        labels = labels_at(ids, selected)
        if self.side == "label":
            shown = corrupt(ids, languages, selected, fate, self.pair.image, random)
            at = selected[switched]
            labels.reshape(-1)[at] = self.translation[labels.reshape(-1)[at]]
        else:
            shown = corrupt(ids, languages, selected[~switched], fate[~switched], self.pair.image, random)
            at = selected[switched]
            originals = ids.reshape(-1)[at]
            images = self.translation[originals]
            shown.reshape(-1)[at] = images
            # A word is shown with its own language's embedding, so one that was translated changes sides.
            languages.reshape(-1)[at[images != originals]] ^= SOURCE ^ DERIVED
        return as_rows(shown, labels, languages, padded=False), {"mlm": len(selected)}


@dataclass(frozen=True)
class DictMLM(Objective):
    """Half of the selected positions show the token's image and ask for the token (the paper's own runs).

    `side="label"` masks as usual and asks for the image instead (Chaudhary et al. 2020). A token without
    an entry in the dictionary is its own image: visible, or its own label.
    """

    side: Side = "input"
    share: float = SHARE

    @property
    def name(self) -> str:
        return "DICT-MLM" if self.side == "input" else "DICT-MLM-label"

    @property
    def language_embeddings(self) -> bool:
        return True

    def streams(self, pair: LanguagePair, length: int, seed: int) -> list[Stream]:
        return [CodeSwitched(pair, length, self.share, self.side)]
