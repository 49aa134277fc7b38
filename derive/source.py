"""The source of a study's sentences and task data."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from calque.derive.example import Example, Question
from calque.derive.fingerprint import with_code
from calque.derive.lemmas import Lemmas
from calque.derive.sentence import Sentence
from calque.derive.workers import Progress, silent

SPLITS = ("train", "dev", "test")


@dataclass
class TaskData:
    """A task's examples by split, and counts of exclusions and repairs by split and reason."""

    examples: dict[str, list[Example]]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


class Source(ABC):
    """Text for pretraining, cut into chunks, and labelled data for tasks. A new source is a frozen dataclass
    of plain values; a chunk's contents depend only on the chunk."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the text in titles."""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """The pieces of the corpus in order; any process can read any of them."""

    @abstractmethod
    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        """A chunk's sentences, and counts of exclusions by reason."""

    def has_images(self, chunk: Any) -> bool:
        """Whether derived languages include a chunk's sentences."""
        return True

    def questions(self) -> Sequence[Question]:
        """Questions about facts that the corpus states, if any."""
        return ()

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks with data, such as `pos`, `ner` and `nli`."""

    @abstractmethod
    def task_data(self, task: str) -> TaskData:
        """The examples of a task."""

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        """The files of a split's examples; none if they are generated."""
        return ()

    @abstractmethod
    def corpus_fingerprint(self, trees: bool = False) -> str:
        """A fingerprint of the sentences and, with `trees`, their trees."""

    @abstractmethod
    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        """A fingerprint of a task's examples and, with `trees`, their trees."""

    def corpus_identity(self, trees: bool = False) -> str:
        """`corpus_fingerprint`, extended by the code of a source defined outside Calque."""
        return with_code(self.corpus_fingerprint(trees), self)

    def task_identity(self, task: str, trees: bool = False) -> str:
        """`task_fingerprint`, extended by the code of a source defined outside Calque."""
        return with_code(self.task_fingerprint(task, trees), self)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Descriptions of the random parts, which `reseeded` changes; empty if everything is read from
        files."""
        return ()

    def reseeded(self, by: int) -> Self:
        """The same source with other random draws: `by` is added to seeds."""
        return self

    def lemmas(self) -> Lemmas:
        """The lemmas of each word form; empty if they are unknown."""
        return {}

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        """Return the source after any computations its sentences need; `cache` keeps the results. With
        `trees`, sentences get heads and relations, or BadInput is raised."""
        return self
