"""The interface of sources, which provide a study's sentences and task data."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from calque.derive.example import Example, Question
from calque.derive.fingerprint import with_code
from calque.derive.sentence import Sentence
from calque.derive.workers import Progress, silent

SPLITS = ("train", "dev", "test")
Lemmas = Mapping[str, frozenset[str]]  # the lemmas of each word form


@dataclass
class TaskData:
    """A task's examples by split, and counts of exclusions and repairs by split and reason."""

    examples: dict[str, list[Example]]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


class Source(ABC):
    """Provides text for pretraining, in chunks, and labelled task data. Subclasses are frozen dataclasses of
    plain values; sentences must depend only on the chunk."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the text, as used in titles."""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """Return the chunks of the corpus in order; any process must be able to read each."""

    @abstractmethod
    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        """Return a chunk's sentences, and counts of exclusions by reason."""

    def has_images(self, chunk: Any) -> bool:
        """Whether a chunk's sentences are also included in derived languages."""
        return True

    def questions(self) -> Sequence[Question]:
        """Return questions about facts stated in the corpus, if there are any."""
        return ()

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks with available data, such as `pos`, `ner` and `nli`."""

    @abstractmethod
    def task_data(self, task: str) -> TaskData:
        """Return the examples for a task."""

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        """Return the files with a split's examples, or none if they are generated."""
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

    def reseeded(self, by: int) -> Self:
        """Return the same source with `by` added to its seeds."""
        return self

    def lemmas(self) -> Lemmas:
        """Return the lemmas of each word form, if available."""
        return {}

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        """Cache what the sentences require, including trees if `trees`, and return the source."""
        return self


def gather_lemmas(pairs: Iterable[tuple[str, str]]) -> Lemmas:
    """Map each word form to its lemmas, given (form, lemma) pairs."""
    gathered: defaultdict[str, set[str]] = defaultdict(set)
    for word, lemma in pairs:
        gathered[word].add(lemma)
    return {word: frozenset(lemmas) for word, lemmas in gathered.items()}
