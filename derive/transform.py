"""What a transform is: one difference between a language and its derivation; compositions; checked images."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.example import Cloze, Example, Question
from calque.derive.fingerprint import plain
from calque.derive.forms import fraction
from calque.derive.sentence import EXAMPLES, PARTS, QUESTIONS, Sentence
from calque.derive.types import OURS, Specials
from calque.derive.usage import Usage

Need = Literal["trees", "tags", "usage"]


class Transform(ABC):
    """One difference. A new one is a frozen dataclass with a `name` and a call. The call moves words (and with them
    labels, spans, trees and origin); `image` and `spell` say what becomes of the words themselves, and stay as they are
    here unless the transform changes the script. A transform that the command line knows has a `pattern`, `examples`
    and `parse`, and is in `derive.transforms`."""

    pattern: ClassVar[str] = ""
    """A regular expression of the names that a person may write; its named groups are the arguments of `parse`."""
    examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Such names as errors and help list them, each with its meaning, or "" where it needs none."""
    term: ClassVar[str] = ""  # what a report's glossary says

    @classmethod
    def parse(cls, *args: Any, **groups: Any) -> Transform:
        """The transform of a name, by the groups of `pattern`; ValueError for a number that it does not take."""
        return cls()

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
        """Its parts, as records keep them: each part's kind and parameters, as plain JSON values."""
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
        return word

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known besides the words: sentences' "trees" and "tags", or the "usage" of types (`informed`)."""
        return frozenset()

    def informed(self, usage: Usage) -> Transform:
        """The transform for a corpus that uses the types so: its field `usage`, if it needs that."""
        own: Any = self
        return replace(own, usage=usage) if "usage" in self.needs else self

    def steps(self, number: int = 0) -> list[tuple[Transform, int]]:
        """The parts in the order in which they are applied to sentence `number`, each with the number it draws from."""
        return [(self, number)]

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        """The parts of the sentence that the transform would have changed but could not, by kind."""
        return Counter()

    def ready(self, cache: Path) -> Transform:
        """The transform after it has learnt what it has to learn; the folder `cache` keeps that."""
        return self

    def redrawn(self, by: int) -> Transform:
        """The same difference with other random draws: its seed, if it has one, is greater by `by`."""
        own: Any = self
        return replace(own, seed=own.seed + by) if "seed" in {field.name for field in fields(own)} else self

    def identity(self) -> Any:
        """Values for a fingerprint that decide the images: the contents of inputs, but not their places."""
        return self


def some(percent: str) -> float:
    """A share of the sentences; ValueError where it is 0, since the language would be the source."""
    if not fraction(percent):
        raise ValueError("expected a share of the sentences above 0 %")
    return fraction(percent)


def check_probability(p: float) -> None:
    """Raise ValueError unless `p` is from 0 to 1."""
    if not 0 <= p <= 1:
        raise ValueError(f"p is a probability, from 0 to 1, not {p}")


def draw(seed: int | str, number: int) -> random.Random:
    """The random numbers of one sentence: the same whichever process asks. Independent draws need different seeds."""
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
        for part, own in self.steps(number):
            sentence = part(sentence, own)
        return sentence

    def steps(self, number: int = 0) -> list[tuple[Transform, int]]:
        """As `Transform.steps`; no two parts draw from the same number, and the first to be applied keeps the
        sentence's."""
        return [(part, PARTS.number(place, number)) for place, part in enumerate(reversed(self.parts))]

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset(chain.from_iterable(part.needs for part in self.parts))

    def informed(self, usage: Usage) -> Transform:
        return Compose(tuple(part.informed(usage) for part in self.parts))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        counts: Counter[str] = Counter()
        for part, own in self.steps(number):
            counts += part.account(sentence, own)
            sentence = part(sentence, own)
        return counts

    def ready(self, cache: Path) -> Transform:
        return Compose(tuple(part.ready(cache) for part in self.parts))

    def redrawn(self, by: int) -> Transform:
        return Compose(tuple(part.redrawn(by) for part in self.parts))

    def identity(self) -> Any:
        return ["Compose", *(part.identity() for part in self.parts)] if "trees" in self.needs else self

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        tables = [part.image(size, specials) for part in self.parts]
        moving = [table for table in tables if not np.array_equal(table, np.arange(size))]
        if len(moving) > 1:
            raise ValueError(f"{self.name} changes the script twice; one table of ids has room for one new script")
        return moving[0] if moving else tables[0]

    def places(self, size: int, specials: Specials = OURS) -> np.ndarray | None:
        tables = (part.places(size, specials) for part in self.parts)
        return next((places for places in tables if places is not None), None)

    def spell(self, word: str) -> str:
        for part in reversed(self.parts):
            word = part.spell(word)
        return word


def compose(*parts: Transform) -> Transform:
    """`compose(Transliterate(), Invert())` is transliteration after inversion."""
    return parts[0] if len(parts) == 1 else Compose(parts)


@dataclass
class Account:
    """What a transform did to some sentences, besides their order: `left_out` and `kept` by reason."""

    split_spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, other: Account) -> None:
        self.split_spans += other.split_spans
        self.left_out += other.left_out
        self.kept += other.kept


def image_of(transform: Transform, sentence: Sentence, number: int, account: Account) -> Sentence:
    """The sentence's image, which `account` then counts."""
    image = sentence
    for part, own in transform.steps(number):
        account.kept.update(part.account(image, own))
        image = part(image, own)
    if image is not sentence:
        check_words(transform, sentence, image)
        account.split_spans += len(image.spans) - len(sentence.spans)
    return image


def check_words(transform: Transform, sentence: Sentence, image: Sentence) -> None:
    """Refuse a transform that does more than move words: corpora hold the source's words in another order."""
    before, after, origin = sentence.words, image.words, image.origin
    try:  # each word once: as many moved, and each place finds the word that is there now
        moved = tuple(map(before.__getitem__, origin))
    except IndexError:
        moved = ()
    if moved != after or not len(set(origin)) == len(origin) == len(before):
        raise BadInput(
            f"the transform {transform.name} changes the words of a sentence; expected the same ones in another order: "
            f"{' '.join(before)[:200]!r} becomes {' '.join(after)[:200]!r}"
        )


def image_of_example(transform: Transform, example: Example, number: int, account: Account) -> Example:
    """The image of example `number` of its split."""
    if (sentences := sum(map(len, example.texts))) > EXAMPLES.size:
        raise BadInput(f"an example of {sentences:,} sentences; expected {EXAMPLES.size:,} at most")
    numbers = count(EXAMPLES.number(number, 0))  # one each: a premise and its hypothesis have separate draws
    texts = (
        tuple(image_of(transform, sentence, next(numbers), account) for sentence in text) for text in example.texts
    )
    return replace(example, texts=tuple(texts))


def image_of_question(question: Question, transform: Transform, number: int) -> Question:
    """Question `number` in a derived language: the source's words in the order of the transform."""
    clozes = []
    for place, cloze in enumerate(question.clozes):
        image = transform(cloze.sentence, QUESTIONS.number(number, place))
        clozes.append(Cloze(image, image.origin.index(cloze.place)))
    return replace(question, clozes=tuple(clozes))
