"""The interface of sources, which provide a study's sentences, task examples, and questions about facts."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, Self

from calque.derive.fingerprint import with_code
from calque.derive.sentence import Sentence, Span
from calque.derive.workers import Progress, silent

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Example:
    """A task example: one or two texts, each a sequence of sentences; without texts, it is missing from its
    file. `diagnostic` names the phenomenon that it tests."""

    texts: tuple[tuple[Sentence, ...], ...]
    label: str = ""
    diagnostic: str = ""
    id: str = ""

    @property
    def sentences(self) -> list[Sentence]:
        return list(chain.from_iterable(self.texts))

    @property
    def words(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return tuple(tuple(sentence.words for sentence in text) for text in self.texts)

    def interned(self) -> Self:
        """Return the example with interned strings, which saves most of a data set's memory."""

        def shared(sentence: Sentence) -> Sentence:
            names = ("words", "tags", "relations")
            columns: dict[str, Any] = {name: tuple(map(intern, getattr(sentence, name))) for name in names}
            return replace(sentence, **columns)

        return replace(self, texts=tuple(tuple(map(shared, text)) for text in self.texts))


@dataclass(frozen=True)
class Cloze:
    """A sentence that states a fact, and the position of the answer in the sentence."""

    sentence: Sentence
    place: int


@dataclass(frozen=True)
class Question:
    """A question about a fact stated in each of the `clozes`; those about one `relation` share `candidates`.
    `shared` says whether the fact is also stated in derived languages."""

    relation: str
    subject: str
    answer: str
    candidates: tuple[str, ...]
    clozes: tuple[Cloze, ...]
    shared: bool


_TEXTS = ("label", "diagnostic", "id")  # the fields written after an example's texts, in order
_COLUMNS = ("words", "tags", "heads", "relations", "spans", "glued")


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines; return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            row: dict[str, Any] = {"texts": [[_columns(s) for s in text] for text in example.texts]}
            row |= {name: getattr(example, name) for name in _TEXTS if getattr(example, name)}
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """Stream the examples in a file written by `write_examples`."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = tuple(tuple(map(_sentence, text)) for text in row["texts"])
            yield Example(texts, *(row.get(name, "") for name in _TEXTS))


def _sentence(columns: dict[str, Any]) -> Sentence:
    columns["spans"] = (Span(*span) for span in columns.get("spans", ()))
    columns["sources"] = map(tuple, columns.get("sources", ()))
    return Sentence(**{name: tuple(column) for name, column in columns.items()})


def _columns(sentence: Sentence) -> dict[str, Any]:
    columns = {name: getattr(sentence, name) for name in _COLUMNS}
    columns["spans"] = [[span.start, span.end, span.label] for span in sentence.spans]
    if sentence.sources or sentence.origin != tuple(range(len(sentence))):
        columns |= {"origin": sentence.origin, "sources": sentence.sources}
    return {name: column for name, column in columns.items() if column or name == "words"}


@dataclass
class TaskData:
    """A task's examples by split, and counts of exclusions and repairs by split and reason."""

    examples: dict[str, list[Example]]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


class Source(ABC):
    """Provides text for pretraining, in chunks, and labelled task data. Subclasses are frozen dataclasses of
    plain values. A chunk's sentences must depend only on the chunk."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the text in titles."""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """Return the corpus's chunks in order, readable by any process."""

    @abstractmethod
    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        """Return a chunk's sentences, and counts of exclusions by reason."""

    def has_images(self, chunk: Any) -> bool:
        """Whether derived languages include a chunk's sentences."""
        return True

    def questions(self) -> Sequence[Question]:
        """Return questions about facts stated in the corpus, if any."""
        return ()

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks with available data, such as `pos`, `ner` and `nli`."""

    @abstractmethod
    def task_data(self, task: str) -> TaskData:
        """Return the examples for a task."""

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        """Return the files with a split's examples, or () if these are generated."""
        return ()

    @abstractmethod
    def corpus_fingerprint(self, trees: bool = False) -> str:
        """Return a fingerprint of the sentences and, if `trees`, of their trees."""

    @abstractmethod
    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        """Return a fingerprint of a task's examples and, if `trees`, of their trees."""

    def corpus_identity(self, trees: bool = False) -> str:
        """Return `corpus_fingerprint`, extended with the source's code if it is defined outside Calque."""
        return with_code(self.corpus_fingerprint(trees), self)

    def task_identity(self, task: str, trees: bool = False) -> str:
        return with_code(self.task_fingerprint(task, trees), self)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Descriptions of the randomly sampled parts, which `reseeded` changes."""
        return ()

    def reseeded(self, offset: int) -> Self:
        """Return the source with `offset` added to its seeds."""
        return self

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        """Cache the data needed to read sentences (and trees), and return the source with these data."""
        return self
