"""What a transform is: one difference between a language and its derivation."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from derive.files import plain
from derive.sentence import PARTS, Sentence
from derive.types import OURS, Specials
from derive.usage import Usage


class Transform(ABC):
    """One difference. A new one is a frozen dataclass with a `name` and a call.

    The call moves words (and with them labels, spans, trees and origin); `image` and `spell` say what
    becomes of the words themselves, and stay as they are here unless the transform changes the script.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Short, of letters, digits and dashes, with dots between composed parts: languages and folders have it."""

    @property
    def title(self) -> str:
        """What people call it; those of composed parts are joined by plus signs."""
        return self.name

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """What it is made of, as records keep it: each part's kind and parameters, as plain JSON values."""
        return (plain(self),)

    @abstractmethod
    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        """The sentence's image. `number` is its number in its corpus; random transforms draw from it."""

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        """The derived language's id of each of the source vocabulary's `size` ids: (size,) int64. Specials stay."""
        return np.arange(size)

    def places(self, size: int, specials: Specials = OURS) -> np.ndarray | None:
        """Ids of the types in text, by place: (2, size) int64, where another sub-word of the same word follows, and at
        the end of a word. None where the image is the id at every place."""
        return None

    def spell(self, word: str) -> str:
        """The word as a person may be shown it in the derived language."""
        return word

    @property
    def needs_trees(self) -> bool:
        """Whether sentences must come with heads and relations."""
        return False

    @property
    def needs_tags(self) -> bool:
        """Whether the words of the corpus must come with their parts of speech: those with trees do."""
        return self.needs_trees

    @property
    def needs_usage(self) -> bool:
        """Whether the ids depend on how the corpus uses the types: `informed` then says how."""
        return False

    def informed(self, usage: Usage) -> Transform:
        """The transform for a corpus that uses the types so."""
        return self

    def leaves_out(self, sentence: Sentence, number: int = 0) -> bool:
        """Whether the sentence has no image."""
        return False

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        """What of the sentence had to stay as it was although the transform is about it, by kind."""
        return Counter()

    def ready(self, cache: Path) -> Transform:
        """The transform with whatever it had to learn first; what was learnt is kept in the folder `cache`."""
        return self

    def redrawn(self, by: int) -> Transform:
        """The same difference with other random draws: its seed, if it has one, is greater by `by`."""
        own: Any = self
        return replace(own, seed=own.seed + by) if "seed" in {field.name for field in fields(own)} else self

    def identity(self) -> Any:
        """What decides the images, as values for a fingerprint: where inputs lie does not, what is in them does."""
        return self


def draw(seed: int | str, number: int) -> random.Random:
    """The random numbers of one sentence: the same whichever process asks, and in whatever order.

    What must not depend on one another is drawn with different seeds.
    """
    return random.Random(f"{seed}:{number}")


@dataclass(frozen=True)
class Compose(Transform):
    """One transform after another: the rightmost comes first, as in T_trans after T_inv."""

    parts: tuple[Transform, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("nothing to compose")
        flat = (part.parts if isinstance(part, Compose) else (part,) for part in self.parts)
        object.__setattr__(self, "parts", tuple(chain.from_iterable(flat)))

    @property
    def name(self) -> str:
        return ".".join(part.name for part in self.parts)

    @property
    def title(self) -> str:
        return " + ".join(part.title for part in self.parts)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return tuple(facet for part in self.parts for facet in part.facets)

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        for place in range(len(self.parts) - 1, -1, -1):
            sentence = self.parts[place](sentence, self._number(place, number))
        return sentence

    def _number(self, place: int, number: int) -> int:
        """What a part draws from: no two of a sentence's draws may be the same. The first to be applied has its own."""
        return PARTS.number(len(self.parts) - 1 - place, number)

    @property
    def needs_trees(self) -> bool:
        return any(part.needs_trees for part in self.parts)

    @property
    def needs_tags(self) -> bool:
        return any(part.needs_tags for part in self.parts)

    @property
    def needs_usage(self) -> bool:
        return any(part.needs_usage for part in self.parts)

    def informed(self, usage: Usage) -> Transform:
        return Compose(tuple(part.informed(usage) for part in self.parts)) if self.needs_usage else self

    def leaves_out(self, sentence: Sentence, number: int = 0) -> bool:
        return any(part.leaves_out(before, own) for part, before, own in self._met(sentence, number))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        return sum((part.account(before, own) for part, before, own in self._met(sentence, number)), Counter())

    def _met(self, sentence: Sentence, number: int) -> Iterator[tuple[Transform, Sentence, int]]:
        """Each part that has something to say, with the sentence as those before it leave it, and the part's number."""
        for place in range(len(self.parts) - 1, self._last - 1, -1):
            part, own = self.parts[place], self._number(place, number)
            if _speaks(part):
                yield part, sentence, own
            if place > self._last:
                sentence = part(sentence, own)

    @cached_property
    def _last(self) -> int:
        """The place of the last part to be applied that has something to say: those after it need not be applied."""
        return next((place for place, part in enumerate(self.parts) if _speaks(part)), len(self.parts))

    def ready(self, cache: Path) -> Transform:
        return Compose(tuple(part.ready(cache) for part in self.parts))

    def redrawn(self, by: int) -> Transform:
        return Compose(tuple(part.redrawn(by) for part in self.parts))

    def identity(self) -> Any:
        return ["Compose", *(part.identity() for part in self.parts)] if self.needs_trees else self

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        tables = [part.image(size, specials) for part in self.parts]
        moving = [table for table in tables if not np.array_equal(table, np.arange(size))]
        if len(moving) > 1:
            raise ValueError(f"{self.name} changes the script twice; one table of ids has room for one new script")
        return moving[0] if moving else tables[0]

    def places(self, size: int, specials: Specials = OURS) -> np.ndarray | None:
        made = (part.places(size, specials) for part in self.parts)
        return next((places for places in made if places is not None), None)

    def spell(self, word: str) -> str:
        for part in reversed(self.parts):
            word = part.spell(word)
        return word


def _speaks(part: Transform) -> bool:
    """Whether a part has an account of its own, or leaves sentences out: most transforms do neither."""
    kind = type(part)
    return kind.leaves_out is not Transform.leaves_out or kind.account is not Transform.account


def compose(*parts: Transform) -> Transform:
    """`compose(Transliterate(), Invert())` is transliteration after inversion."""
    return parts[0] if len(parts) == 1 else Compose(parts)
