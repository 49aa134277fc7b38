"""Pocket English: the language that a study configures, and its sentences."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count as count_from
from itertools import islice

from derive.example import Example
from derive.files import ADDED
from derive.pocket.cast import MEMBERS, draw_cast
from derive.pocket.grammar import PAST, PRESENT, Grammar
from derive.pocket.inference import Inference
from derive.pocket.lexicon import Lexicon, check_types
from derive.pocket.orders import ORDERS, Order, check_order
from derive.pocket.preferences import Preferences
from derive.pocket.shape import Shape, compile_shape
from derive.sentence import Sentence

CHUNK = 1_000
"""Sentences of a chunk, the smallest part of a stream that can be made for itself."""

SHAPES = 4_000
"""Shapes of a bank; paragraphs in the past and in the present draw from one each."""

PRESENT_SHARE = 0.4
LONGEST = 25


@dataclass(frozen=True)
class Pocket:
    """A language of `types` word types (300 to 5,000), drawn with `seed`; `zipf` is the exponent within a class.

    Words are in lower case, also the first of a sentence: capitalised copies would be types of their own
    and double the lexicon. Only names are capitalised. `order` is one of derive.pocket.orders: languages that
    differ in it alone say the same trees with the same words.
    """

    types: int = 600
    seed: int = 0
    zipf: float = 1.0
    order: str = field(default="english", metadata=ADDED)

    def __post_init__(self) -> None:
        check_types(self.types)
        check_order(self.order)

    def sentences(self, count: int, stream: int = 0) -> Iterator[Sentence]:
        """The first `count` sentences of a stream, with all columns. Streams are independent of one another."""
        chunks = (self.chunk(stream, number) for number in count_from())
        return islice((sentence for chunk in chunks for sentence in chunk), count)

    def chunk(self, stream: int, number: int) -> Iterator[Sentence]:
        """Sentences number x CHUNK to (number + 1) x CHUNK of a stream, in paragraphs of three to six."""
        preferences, banks = _parts(self)
        rng = random.Random(f"{self.seed}:sentences:{stream}:{number}")
        draw, choices = rng.random, rng.choices
        topics = preferences.topics
        weights = [topic.weight for topic in topics]
        left = CHUNK
        while left:
            cast = draw_cast(choices(topics, weights)[0], rng)
            shapes = banks[draw() < PRESENT_SHARE]
            for _ in range(min(left, 3 + int(draw() * 4))):
                yield shapes[int(draw() * SHAPES)].fill(cast, draw)
                left -= 1

    def pairs(self, count: int, stream: int = 0) -> Iterator[Example]:
        """The first `count` inference pairs of a stream: (premise,), (hypothesis,) and the label, in equal shares."""
        rng, order = random.Random(f"{self.seed}:pairs:{stream}"), random.Random(f"{self.seed}:order:pairs:{stream}")
        topics = _parts(self)[0].topics
        return islice(Inference(topics, rng, lambda: ORDERS[self.order].draw(order)).pairs(), count)

    @property
    def forms(self) -> frozenset[str]:
        """All word types, marks included."""
        return frozenset(Lexicon(self.types, self.seed).forms)


@lru_cache(maxsize=4)
def _parts(language: Pocket) -> tuple[Preferences, tuple[tuple[Shape, ...], ...]]:
    """What every sentence draws from: the words' preferences, and banks of shapes drawn from the grammar."""
    preferences = Preferences(Lexicon(language.types, language.seed), language.seed, language.zipf)
    rng, order = random.Random(f"{language.seed}:shapes"), random.Random(f"{language.seed}:order")
    return preferences, tuple(_bank(Grammar(rng, tenses), ORDERS[language.order], order) for tenses in (PAST, PRESENT))


def _bank(grammar: Grammar, order: Order, rng: random.Random) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    while len(shapes) < SHAPES:
        shape = compile_shape(grammar.sentence(), order.draw(rng), MEMBERS)
        if len(shape.words) <= LONGEST:
            shapes.append(shape)
    return tuple(shapes)
