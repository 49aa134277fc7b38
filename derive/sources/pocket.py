"""Pocket English as a source: as many sentences as wanted, with every task, and no data file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice

from derive.example import Example
from derive.files import fingerprint
from derive.pocket.language import CHUNK, Pocket
from derive.sentence import Sentence
from derive.source import SPLITS, Source, TaskData

CORPUS = 0
"""The corpus's stream; those after it are the tasks'."""


@dataclass(frozen=True)
class Sizes:
    """Examples of each split of a task."""

    train: int = 2_000
    dev: int = 500
    test: int = 1_000

    def __iter__(self) -> Iterator[int]:
        return iter((self.train, self.dev, self.test))


@dataclass(frozen=True)
class PocketEnglish(Source):
    """A corpus of `size` sentences of Pocket English, and task data drawn apart from it and from one another."""

    language: Pocket = field(default_factory=Pocket)
    size: int = 50_000
    pos: Sizes = Sizes()
    ner: Sizes = Sizes()
    nli: Sizes = Sizes()

    def chunks(self) -> Iterator[tuple[int, int]]:
        """(number of the chunk in its stream, sentences of it)."""
        for number in range(-(-self.size // CHUNK)):
            yield number, min(CHUNK, self.size - number * CHUNK)

    def sentences(self, chunk: tuple[int, int]) -> tuple[list[Sentence], Counter[str]]:
        number, size = chunk
        return list(islice(self.language.chunk(CORPUS, number), size)), Counter()

    def tasks(self) -> dict[str, TaskData]:
        streams = count(CORPUS + 1)
        return {
            "pos": TaskData({s: self._tagged(n, next(streams)) for s, n in zip(SPLITS, self.pos, strict=True)}),
            "ner": TaskData({s: self._tagged(n, next(streams)) for s, n in zip(SPLITS, self.ner, strict=True)}),
            "nli": TaskData(
                {s: list(self.language.pairs(n, next(streams))) for s, n in zip(SPLITS, self.nli, strict=True)}
            ),
        }

    def fingerprint(self) -> str:
        return fingerprint(self)

    def _tagged(self, size: int, stream: int) -> list[Example]:
        return [Example(((sentence,),)) for sentence in self.language.sentences(size, stream)]
