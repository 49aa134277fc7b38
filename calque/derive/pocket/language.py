"""Pocket English: its configuration, sentences and task data."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count, islice

from calque.derive.errors import BadInput
from calque.derive.fingerprint import ADDED
from calque.derive.pocket.grammar import PAST, PRESENT, SentenceGrammar
from calque.derive.pocket.inference import inferences
from calque.derive.pocket.lexicon import Lexicon, Sense
from calque.derive.pocket.pairs import WordDraws
from calque.derive.pocket.preferences import Preferences
from calque.derive.pocket.roles import paraphrases, questions
from calque.derive.pocket.tree import ORDERS, draw_cast, say
from calque.derive.sentence import Sentence
from calque.derive.source import Example

CHUNK = 1_000  # number of sentences per chunk, the unit of generation
SIZES = (300, 600)  # possible numbers of word types
PRESENT_SHARE = 0.7
LONGEST = 25

GENERATED: dict[str, tuple[str, Callable[[WordDraws], Iterator[Example]]]] = {
    "nli": ("pairs", inferences),
    "paraphrase": ("paraphrases", paraphrases),
    "qa": ("questions", questions),
}
"""The name of each task's random stream, and the function that generates its examples."""


@dataclass(frozen=True)
class Pocket:
    """A language with 300 or 600 word types; `seed` determines its preferences and sentences. `order` is a
    key of derive.pocket.tree.ORDERS; trees and words are the same in all orders."""

    former_fields = (("zipf", 1.0),)

    types: int = 600
    seed: int = 0
    order: str = field(default="english", metadata=ADDED)

    def __post_init__(self) -> None:
        if self.types not in SIZES:
            raise BadInput(f"Pocket English has {SIZES[0]} or {SIZES[1]} word types, not {self.types:,}")
        if self.order not in ORDERS:
            raise BadInput(f"no word order is called {self.order!r}; available: {', '.join(ORDERS)}")

    def sentences(self, size: int, stream: int = 0, withhold: bool = False) -> Iterator[Sentence]:
        """Yield the first `size` sentences of a random stream; `withhold` excludes the names reserved for
        test data."""
        chunks = (self.chunk(stream, number, withhold) for number in count())
        return islice(chain.from_iterable(chunks), size)

    def chunk(self, stream: int, number: int, withhold: bool = False) -> Iterator[Sentence]:
        """Yield a chunk of a random stream, in paragraphs of three to six sentences."""
        topics, withheld = _parts(self.types, self.seed)
        excluded = withheld if withhold else frozenset[str]()
        key = f"{self.seed}:sentences:{stream}:{number}"
        rng, order = random.Random(key), random.Random(f"{key}:order")
        grammars = SentenceGrammar(rng, PAST), SentenceGrammar(rng, PRESENT)
        weights = [topic.weight for topic in topics]
        remaining = CHUNK
        while remaining:
            cast = draw_cast(rng.choices(topics, weights)[0], rng, excluded)
            grammar = grammars[rng.random() < PRESENT_SHARE]
            paragraph = min(remaining, 3 + int(rng.random() * 4))
            remaining -= paragraph
            while paragraph:
                sentence = say(grammar.sentence(), ORDERS[self.order].draw(order), cast, rng.random)
                if len(sentence) <= LONGEST:
                    paragraph -= 1
                    yield sentence

    def examples(self, task: str, stream: int = 0) -> Iterator[Example]:
        """Yield an infinite random stream of a task's examples, with equally frequent labels: inference pairs
        (`nli`), paraphrases ("1") or not ("0") (`paraphrase`), or questions with contexts in which a span
        marks the answer (`qa`)."""
        name, generate = GENERATED[task]
        rng, order = (random.Random(f"{self.seed}:{key}{name}:{stream}") for key in ("", "order:"))
        topics, _ = _parts(self.types, self.seed)
        return generate(WordDraws(topics, rng, lambda: ORDERS[self.order].draw(order)))


@lru_cache(maxsize=4)
def _parts(types: int, seed: int) -> tuple[list[Sense], frozenset[str]]:
    lexicon = Lexicon(types)
    return Preferences(lexicon, seed).topics, frozenset(lexicon.withheld)
