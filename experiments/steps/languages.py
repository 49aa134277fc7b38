"""The steps that make languages: by transforms of a source, or of parallel text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from derive.build import derive_languages, languages_fingerprint, trial_image, write_translation
from derive.dictionary import DictionaryConfig
from derive.folder import FORMAT, KIND
from derive.language import SOURCE
from derive.question import Question, image_of_question
from derive.source import Source
from derive.transform import Transform
from derive.vocabulary import GivenVocabulary
from experiments.gold_text import GoldText
from experiments.step import Machine, Stage, Step

SAMPLE = 100
"""Types on which transforms are tried out."""


class LanguagesStep(Step):
    """A folder that `derive.languages.Languages` opens."""

    stage: ClassVar[Stage] = "derive"
    kind: ClassVar[str] = KIND

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows of the embedding table of a model of the source and one other language."""

    def rows_of(self, names: Sequence[str]) -> int:
        """Rows of the embedding table of a model of the source and so many others."""
        return self.rows

    @abstractmethod
    def language(self, name: str) -> str:
        """The fingerprint of one language, which does not depend on the others."""

    def order_of(self, names: Sequence[str]) -> dict[str, Any]:
        """What the fingerprints of some languages do not tell of a model that reads them in this order.

        The order says whose each share and each token type is. Names that ascend say nothing.
        """
        return {} if list(names) == sorted(names) else {"order": list(names)}

    def questions(self, name: str) -> list[tuple[Question, Question]]:
        """Facts that the source's text states, each also as a language asks for it; none, unless it was made so."""
        return []

    def pairs_of(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Between which languages a model of `names` has bitexts, unless it is told otherwise: the source and each."""
        return tuple((SOURCE, name) for name in names)


@dataclass(frozen=True)
class DeriveLanguages(LanguagesStep):
    """Corpora, vocabulary, dictionaries and preview, by some transforms of one source."""

    home: Path
    cache: Path
    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | GivenVocabulary
    dictionary: DictionaryConfig

    format: ClassVar[int] = FORMAT
    spreads: ClassVar[bool] = True

    @property
    def place(self) -> Path:
        return self.home / "languages"

    @property
    def title(self) -> str:
        return "languages"

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"languages": self._fingerprint(self.transforms)}

    @cached_property
    def rows(self) -> int:
        return 2 * (self.vocabulary if isinstance(self.vocabulary, int) else self.vocabulary.open().size)

    def rows_of(self, names: Sequence[str]) -> int:
        if len(names) == 1:
            return self.rows
        moved = (trial_image(transform, SAMPLE) for transform in self.transforms if transform.name in names)
        return self.rows // 2 * (1 + sum(bool((image >= SAMPLE).any()) for image in moved))

    def language(self, name: str) -> str:
        return self._fingerprint(tuple(transform for transform in self.transforms if transform.name == name))

    def questions(self, name: str) -> list[tuple[Question, Question]]:
        (transform,) = (transform for transform in self.transforms if transform.name == name)
        asked, ready = self.source.questions(), transform.ready(self.cache)
        return [(question, image_of_question(question, ready, number)) for number, question in enumerate(asked)]

    def __call__(self, machine: Machine) -> None:
        derive_languages(
            self.source,
            self.transforms,
            self.vocabulary,
            self.dictionary,
            self.folder,
            self.cache,
            machine.workers,
            machine.report,
        )

    def _fingerprint(self, transforms: tuple[Transform, ...]) -> str:
        return languages_fingerprint(self._corpus, transforms, self.vocabulary, self.dictionary)

    @cached_property
    def _corpora(self) -> dict[bool, str]:
        return {}

    def _corpus(self, trees: bool) -> str:
        """The corpus's fingerprint, with or without its trees; kept, because its files must be read for it."""
        if trees not in self._corpora:
            self._corpora[trees] = self.source.corpus_identity(trees)
        return self._corpora[trees]


@dataclass(frozen=True)
class PairText(LanguagesStep):
    """Parallel text of a gold set's two languages, its own sentences included, as a source and its translation."""

    home: Path
    text: GoldText
    vocabulary: int

    format: ClassVar[int] = FORMAT

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "languages"

    @property
    def title(self) -> str:
        return f"languages {self.text.name}"

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"text": self.text.fingerprint, "vocabulary": self.vocabulary}

    @property
    def rows(self) -> int:
        return self.vocabulary

    def language(self, name: str) -> str:
        return self.fingerprint

    def __call__(self, machine: Machine) -> None:
        machine.report(self.title, 0, 1)
        pairs, _ = self.text.pairs()
        write_translation(pairs, self.text.target, self.vocabulary, self.folder)
        machine.report(self.title, 1, 1)
