"""The interface of sources, which provide a study's sentences and task examples."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from calque.derive.sentence import Example, Sentence
from calque.derive.workers import Progress, silent

SPLITS = ("train", "dev", "test")


@dataclass
class TaskData:
    """A task's examples, and counts of exclusions and repairs by reason, by split."""

    examples: dict[str, list[Example]]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


class Source(ABC):
    """Provides text in independent chunks and labelled task data; subclasses are frozen dataclasses."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the text in titles."""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """Return the corpus's chunks in order; any process can read them."""

    @abstractmethod
    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        """Return a chunk's sentences, and exclusions by reason."""

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks with data, such as `pos`, `ner` and `nli`."""

    @abstractmethod
    def task_data(self, task: str) -> TaskData: ...

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        """Return the files with a split's examples, if any."""
        return ()

    @abstractmethod
    def corpus_fingerprint(self, trees: bool = False) -> str:
        """Return a fingerprint of the sentences and, if `trees`, of their trees."""

    @abstractmethod
    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        """Return a fingerprint of a task's examples and, if `trees`, of their trees."""

    @property
    def drawn(self) -> tuple[str, ...]:
        """The randomly sampled parts, which `reseeded` changes."""
        return ()

    def reseeded(self, offset: int) -> Self:
        """Add `offset` to the seeds."""
        return self

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        """Return the source with what it needs to read sentences (and trees), from `cache`."""
        return self
