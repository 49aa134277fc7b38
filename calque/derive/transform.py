"""Transforms, each of which changes one property of a language, their composition, and checks of images."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import MISSING, dataclass, field, fields, replace
from inspect import getfile
from itertools import chain, count
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np

from calque.derive.errors import BadInput, shown
from calque.derive.fingerprint import own_code, plain
from calque.derive.forms import Named
from calque.derive.sentence import EXAMPLES, PARTS, Example, Sentence
from calque.derive.vocabulary import OURS, Specials

TORN = "additional entities, because the new order splits some entities into pieces, each counted as one"


class Transform(Named, ABC):
    """Changes one property of a language. Subclasses are frozen dataclasses with a `name` or `forms`; those
    that change words inherit from `Rewrite`; those that change the script override `image` and `spell`."""

    @classmethod
    def example(cls) -> str:
        """Return the shortest name, for help and messages."""
        if not cls.short_name:
            return cls().name
        required = (form for form in cls.forms if cls.defaults()[form.field] is MISSING)
        return cls.short_name + "".join(form.name + form.example for form in required)

    @classmethod
    def parse(cls, name: str) -> Transform | None:
        if cls.short_name:
            return super().parse(name)
        transform = cls()
        return transform if transform.name == name else None

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """The kind and parameters of each part, for records."""
        return (plain(self),)

    @abstractmethod
    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        """Return the image of sentence `number`, which seeds random transforms."""

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        """Return the derived id of each source id, (size,) int64; special ids stay unchanged."""
        return np.arange(size)

    def spell(self, word: str) -> str:
        """Spell a derived word."""
        return word

    @property
    def rewrites(self) -> bool:
        """Whether the transform changes words (see `Rewrite`)."""
        return False

    @property
    def needs_trees(self) -> bool:
        """Whether it needs sentences with trees and tags."""
        return False

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        """Count the parts of a sentence that the transform should change but cannot, by reason."""
        return Counter()

    def ready(self, cache: Path | None = None) -> Transform:
        """Return the transform with a grammar (from `cache`), if it needs one."""
        return self

    def reseeded(self, offset: int) -> Transform:
        """Add `offset` to the seed, if any."""
        config: Any = self
        has_seed = any(field.name == "seed" for field in fields(config))
        return replace(config, seed=config.seed + offset) if has_seed else self

    def identity(self) -> Any:
        """Return the values that determine the images; files are represented by digests."""
        return self


def check_share(share: float, what: str, may_be_zero: bool = False) -> None:
    """Raise ValueError unless `share` is between 0 and 1, and above 0 unless it `may_be_zero`."""
    if not (0 < share <= 1 or (may_be_zero and share == 0)):
        limits = "between 0 and 1" if may_be_zero else "above 0 and at most 1"
        raise ValueError(f"the share of {what} must be {limits}, not {share}")


def draw(seed: int | str, number: int) -> random.Random:
    """Return a sentence's random number generator; independent draws need different seeds."""
    return random.Random(f"{seed}:{number}")


@dataclass(frozen=True)
class Compose(Transform):
    """Applies several transforms, the rightmost first, as in T_trans ∘ T_inv."""

    parts: tuple[Transform, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(chain.from_iterable(map(parts_of, self.parts))))

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
        for part, seed in _numbered_parts(self, number):
            sentence = part(sentence, seed)
        return sentence

    @property
    def rewrites(self) -> bool:
        return any(part.rewrites for part in self.parts)

    @property
    def needs_trees(self) -> bool:
        return any(part.needs_trees for part in self.parts)

    def ready(self, cache: Path | None = None) -> Transform:
        return Compose(tuple(part.ready(cache) for part in self.parts))

    def reseeded(self, offset: int) -> Transform:
        return Compose(tuple(part.reseeded(offset) for part in self.parts))

    def identity(self) -> Any:
        identities = [part.identity() for part in self.parts]
        are_plain = all(identity is part for identity, part in zip(identities, self.parts, strict=True))
        return self if are_plain and not self.needs_trees else ["Compose", *identities]

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        images = (part.image(size, specials) for part in self.parts if changes_script(part))
        return next(images, np.arange(size))

    def spell(self, word: str) -> str:
        for part in reversed(self.parts):
            word = part.spell(word)
        return word


def compose(*parts: Transform) -> Transform:
    """Compose transforms; `compose(Transliterate(), Invert())` is transliteration after inversion."""
    return parts[0] if len(parts) == 1 else Compose(parts)


def parts_of(transform: Transform) -> tuple[Transform, ...]:
    """Return the parts of a composed transform, or only the transform itself."""
    return transform.parts if isinstance(transform, Compose) else (transform,)


def _numbered_parts(transform: Transform, number: int) -> list[tuple[Transform, int]]:
    return [(part, PARTS.number(place, number)) for place, part in enumerate(reversed(parts_of(transform)))]


def changes_script(transform: Transform) -> bool:
    """Whether a transform maps types to other types."""
    return any(type(part).image is not Transform.image for part in parts_of(transform))


def check_parts(transform: Transform) -> None:
    """Raise BadInput for parts that cannot be combined."""
    parts, names = parts_of(transform), [part.name for part in parts_of(transform)]
    if sum(map(changes_script, parts)) > 1:
        raise BadInput(f"{transform.name} changes the script twice; at most one part may change it")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"{transform.name} contains {repeated[0]} twice")
    for place, part in enumerate(parts):
        if _needs_tree(part) and any(other.rewrites for other in parts[place:]):
            order = ".".join(other.name for other in sorted(parts, key=_needs_tree))
            raise BadInput(f"{part.name} is applied before transforms that change words: write {order}")


def _needs_tree(part: Transform) -> bool:
    return part.needs_trees and not part.rewrites


@dataclass
class Account:
    """A transform's side effects: split spans, exclusions, and parts kept in place, by reason."""

    split_spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, other: Account) -> None:
        self.split_spans += other.split_spans
        self.left_out += other.left_out
        self.kept += other.kept


def image_of(transform: Transform, sentence: Sentence, number: int, account: Account) -> Sentence:
    """Return the image of sentence `number`, and count side effects; only a `Rewrite` may change words."""
    image = sentence
    for part, seed in _numbered_parts(transform, number):
        account.kept.update(part.account(image, seed))
        spans_before, image = len(image.spans), _applied(part, image, seed)
        new = len(image.spans) - spans_before
        account.split_spans += max(new, 0)
        account.left_out += Counter({"entities, answers or labels that no derived word has": max(-new, 0)})
    if image.sources:
        lost = len(sentence) - len(set(chain.from_iterable(image.sources)))
        account.left_out += Counter({"words that no derived word renders": lost})
    if image is not sentence and not (transform.rewrites and image.sources):
        words = tuple(sentence.words[place] for place in image.origin)
        if sorted(image.origin) != list(range(len(sentence))) or words != image.words:
            fault = f"but it changes {sentence.text[:200]!r} to {image.text[:200]!r}"
            raise BadInput(f"{transform.name} may only reorder words, as it is not a `Rewrite`, {fault}")
    return image


def _applied(part: Transform, sentence: Sentence, number: int) -> Sentence:
    """Apply a transform; if it is a user's and fails, raise BadInput with the user's file and line."""
    try:
        image = part(sentence, number)
        if not isinstance(image, Sentence):
            raise TypeError(f"{image!r} is not a Sentence")
        return image
    except Exception as error:
        code = own_code(part)
        lines = [f for f in extract_tb(error.__traceback__) if f.filename.endswith(tuple(code))]
        if not code or (isinstance(error, BadInput) and not lines):
            raise
        place = (lines[-1].filename, lines[-1].lineno) if lines else (getfile(type(part)),)
        fault = f"{part.name} fails on sentence {number}, {shown(sentence.text)}: {error!r}"
        raise BadInput(fault, *place) from error


def image_of_example(transform: Transform, example: Example, number: int, account: Account) -> Example:
    """Return the image of example `number` in a split."""
    numbers = count(EXAMPLES.number(number, 0))  # every sentence has its own number, even within a pair
    texts = [[image_of(transform, one, next(numbers), account) for one in text] for text in example.texts]
    return replace(example, texts=tuple(map(tuple, texts)))
