"""Pocket English: its configuration, sentences and task data."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, count, islice
from typing import Self

from calque.derive.errors import BadInput, check_range
from calque.derive.fingerprint import ADDED, fingerprint
from calque.derive.pocket.grammar import PAST, PRESENT, SentenceGrammar
from calque.derive.pocket.lexicon import Lexicon, Preferences, Sense
from calque.derive.pocket.tree import ORDERS, draw_cast, say
from calque.derive.sentence import Example, Sentence
from calque.derive.source import SPLITS, Source, TaskData

CHUNK = 1_000  # number of sentences per chunk, the unit of generation
PRESENT_SHARE = 0.7
LONGEST = 25

EDITION = "pocket, second edition"
CORPUS = 0  # the corpus's random stream
TASKS = ("pos", "ner")  # in the order of their random streams
MOST_SENTENCES = 1_000_000_000
MOST_EXAMPLES = 1_000_000  # in a split, which must fit in memory
MANY = 2**40  # practically infinite


@dataclass(frozen=True)
class Pocket:
    """A language with 300 or 600 word types; `seed` determines its preferences and sentences. `order` is a
    word order; trees and words are the same in all orders."""

    former_fields = (("zipf", 1.0),)

    types: int = 600
    seed: int = 0
    order: str = field(default="english", metadata=ADDED)

    def __post_init__(self) -> None:
        if self.types not in (300, 600):
            raise BadInput(f"Pocket English has 300 or 600 word types, not {self.types:,}")
        if self.order not in ORDERS:
            raise BadInput(f"no word order is called {self.order!r}; available: {', '.join(ORDERS)}")

    def sentences(self, size: int, stream: int = 0, withhold: bool = False) -> Iterator[Sentence]:
        """Yield the first `size` sentences of a random stream; `withhold` excludes names for test data."""
        chunks = (self.chunk(stream, number, withhold) for number in count())
        return islice(chain.from_iterable(chunks), size)

    def chunk(self, stream: int, number: int, withhold: bool = False) -> Iterator[Sentence]:
        """Yield a chunk of a random stream, in paragraphs of three to six sentences."""
        topics, withheld = _parts(self.types, self.seed)
        key = f"{self.seed}:sentences:{stream}:{number}"
        rng, order = random.Random(key), random.Random(f"{key}:order")
        grammars = SentenceGrammar(rng, PAST), SentenceGrammar(rng, PRESENT)
        weights = [topic.weight for topic in topics]
        remaining = CHUNK
        while remaining:
            cast = draw_cast(rng.choices(topics, weights)[0], rng, withheld if withhold else frozenset())
            grammar = grammars[rng.random() < PRESENT_SHARE]
            paragraph = min(remaining, 3 + int(rng.random() * 4))
            remaining -= paragraph
            while paragraph:
                sentence = say(grammar.sentence(), ORDERS[self.order].draw(order), cast, rng.random)
                if len(sentence) <= LONGEST:
                    paragraph -= 1
                    yield sentence


@lru_cache(maxsize=4)
def _parts(types: int, seed: int) -> tuple[list[Sense], frozenset[str]]:
    lexicon = Lexicon(types)
    return Preferences(lexicon, seed).topics, frozenset(lexicon.withheld)


@dataclass(frozen=True)
class Sizes:
    train: int = 2_000
    dev: int = 500
    test: int = 1_000

    def __post_init__(self) -> None:
        for size in self:
            check_range("the number of examples in a split", size, 1, MOST_EXAMPLES)

    def __iter__(self) -> Iterator[int]:
        return iter((self.train, self.dev, self.test))


@dataclass(frozen=True)
class PocketEnglish(Source):
    """`size` sentences of Pocket English, and task data from separate random streams. No sentence occurs
    twice in a task, and a third of the names are absent from training data."""

    drawn = ("the lexicon", "the text", "the task items")
    tasks = TASKS

    language: Pocket = field(default_factory=Pocket)
    size: int = 50_000
    pos: Sizes = Sizes()
    ner: Sizes = Sizes()

    def __post_init__(self) -> None:
        check_range("the number of sentences in a corpus", self.size, 1, MOST_SENTENCES)

    @property
    def title(self) -> str:
        return f"Pocket English, {self.language.types:,} word types"

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield each chunk's index in the random stream and its number of sentences."""
        for number in range(-(-self.size // CHUNK)):
            yield number, min(CHUNK, self.size - number * CHUNK)

    def sentences(self, chunk: tuple[int, int]) -> tuple[list[Sentence], Counter[str]]:
        number, size = chunk
        return list(islice(self.language.chunk(CORPUS, number), size)), Counter()

    def task_data(self, task: str) -> TaskData:
        """Return the first different sentences of each split's stream."""
        data = TaskData({}, {split: Counter() for split in SPLITS})
        seen = set[tuple[str, ...]]()
        first = CORPUS + 1 + TASKS.index(task) * len(SPLITS)
        for stream, (split, size) in enumerate(zip(SPLITS, getattr(self, task), strict=True), start=first):
            distinct = data.examples[split] = list[Example]()
            for sentence in self.language.sentences(MANY, stream, withhold=split == SPLITS[0]):
                if len(distinct) == size:
                    break
                if sentence.words in seen:
                    data.left_out[split]["repetitions"] += 1
                    continue
                seen.add(sentence.words)
                distinct.append(Example(((sentence,),)))
        return data

    def corpus_fingerprint(self, trees: bool = False) -> str:
        return fingerprint(EDITION, self.language, self.size)

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        return fingerprint(EDITION, self.language, task, getattr(self, task))

    def reseeded(self, offset: int) -> Self:
        return replace(self, language=replace(self.language, seed=self.language.seed + offset))
