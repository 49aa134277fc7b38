"""Cognates: words that share their stems with the source's, and have endings of their own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from derive.script import Transliterate
from derive.sentence import Sentence
from derive.transform import Transform
from derive.types import OURS, Specials
from derive.usage import Usage

SCRIPT = Transliterate()


@dataclass(frozen=True)
class Cognates(Transform):
    """A new script for the end of every word, and inside words for all but an exact share `share` of the types.

    A word's last sub-word, which is all that most words have, is the new script's, so no word is shared. Of those
    before it, a word's stem, the types that are drawn (uniformly, without replacement, from all but the special ones)
    stay. A share of 0 is `Transliterate()`; a smaller share is part of a larger one.

    The image of a type is that at the end of a word. A type that stays inside words, and that the corpus has nowhere
    else, is its own image: what the corpus has of types decides that, so the transform must be `informed`.
    """

    share: float = 1.0
    seed: int = 0
    usage: Usage | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"the share of stems is a fraction of the types, from 0 to 1, not {self.share}")

    @property
    def name(self) -> str:
        return f"trans-stems-{self.share * 100:g}"

    @property
    def title(self) -> str:
        return f"Trans {self.share * 100:g} % of stems shared"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    @property
    def needs_usage(self) -> bool:
        return self.share > 0

    def informed(self, usage: Usage) -> Transform:
        return replace(self, usage=usage) if self.needs_usage else self

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        """As `Transform.image`.

        Raises:
            ValueError: some stems are shared, and how a corpus uses the types is not known.
        """
        places = self.places(size, specials)
        if places is None:
            return SCRIPT.image(size, specials)
        if self.usage is None or self.usage.size != size:
            raise ValueError(f"{self.name} shares types that no word ends with, and which these are is not known yet")
        only_inside = (self.usage.counts > 0) & (self.usage.at_ends == 0)
        return np.where(only_inside, *places)

    def places(self, size: int, specials: Specials = OURS) -> np.ndarray | None:
        if not self.share:
            return None
        at_end = SCRIPT.image(size, specials)
        return np.stack([Transliterate(self.share, self.seed).image(size, specials), at_end])

    def spell(self, word: str) -> str:
        """As `Transform.spell`: with the stem in the source's letters, where a vocabulary says what that is."""
        if self.usage is None or self.usage.cut is None:
            return SCRIPT.spell(word)
        *stem, (_, ending) = self.usage.cut(word)
        if "".join(text for _, text in stem) + ending != word:  # a letter of several bytes is cut in two
            return SCRIPT.spell(word)
        own = Transliterate(self.share, self.seed).image(self.usage.size, self.usage.specials)
        return "".join(text if own[i] == i else SCRIPT.spell(text) for i, text in stem) + SCRIPT.spell(ending)
