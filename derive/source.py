"""Where a study's sentences and task data come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from derive.example import Example
from derive.files import with_code
from derive.question import Question
from derive.sentence import Sentence
from derive.usage import Lemmas

SPLITS = ("train", "dev", "test")


@dataclass
class TaskData:
    """A task's examples by split, and what was left out or repaired on the way, by split and reason."""

    examples: dict[str, list[Example]]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


class Source(ABC):
    """A source language: text for pretraining, cut into chunks, and labelled data for tasks.

    A new one is a frozen dataclass. It travels to worker processes, and so do its chunks, so both hold
    plain values only. What a chunk holds depends on nothing but the source.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """Its text, as titles call it."""

    @abstractmethod
    def chunks(self) -> Iterable[Any]:
        """The pieces of the corpus in order; each is read on its own, by whichever process."""

    @abstractmethod
    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        """A chunk's sentences, and what was left out of it by reason."""

    def has_images(self, chunk: Any) -> bool:
        """Whether derived languages have a chunk's sentences too; the others are the source's alone."""
        return True

    def questions(self) -> Sequence[Question]:
        """Facts that the corpus states, to be asked for; none, unless it was made to state some."""
        return ()

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it has data for: `pos` (tags), `ner` (spans), `nli` (pairs with a label)."""

    @abstractmethod
    def task_data(self, task: str) -> TaskData:
        """The examples of one of its tasks."""

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        """The files that a split's examples are read from; none where they are made."""
        return ()

    @abstractmethod
    def corpus_fingerprint(self, trees: bool = False) -> str:
        """Changes whenever the sentences would; with `trees`, also whenever their trees would."""

    @abstractmethod
    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        """Changes whenever a task's examples would; with `trees`, also whenever their trees would."""

    def corpus_identity(self, trees: bool = False) -> str:
        """`corpus_fingerprint`, and the code of a source that is not Calque's."""
        return with_code(self.corpus_fingerprint(trees), self)

    def task_identity(self, task: str, trees: bool = False) -> str:
        """`task_fingerprint`, and the code of a source that is not Calque's."""
        return with_code(self.task_fingerprint(task, trees), self)

    @property
    def drawn(self) -> tuple[str, ...]:
        """What of it is drawn at random, in words; `redrawn` draws that anew. Nothing, where all is read from files."""
        return ()

    def redrawn(self, by: int) -> Source:
        """The same source with other random draws, those of seeds that are greater by `by`."""
        return self

    def lemmas(self) -> Lemmas:
        """The lemmas of words, where the source knows any; empty where it does not.

        Raises:
            BadInput: what has them is damaged.
        """
        return {}

    def lemma_fingerprint(self) -> str:
        """Changes whenever the lemmas would; empty where there are none."""
        return ""

    def with_trees(self, cache: Path) -> Source:
        """The same sentences with heads and relations; what had to be parsed is kept in the folder `cache`.

        Raises:
            BadInput: they have none, and there is nothing to parse them with.
        """
        return self
