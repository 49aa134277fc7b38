"""Where a grammar comes from: treebanks to learn it from, or a file that holds it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.artefact import digest
from derive.files import check_name, fingerprint, sha256, with_code
from derive.grammar import model
from derive.grammar.model import Grammar
from derive.pocket.language import Pocket
from derive.sentence import Sentence
from derive.treebank import read_treebank, treebank_files


class Superstrate(ABC):
    """A language whose word order can be had; a new kind is a frozen dataclass with a `name`.

    (The language that gives way is a substrate; where it comes from is the same.)
    """

    name: str

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes whenever the grammar would."""

    @abstractmethod
    def grammar(self, cache: Path) -> Grammar:
        """The grammar; what was learnt is kept in the folder `cache` and not learnt again."""


class Learned(Superstrate):
    """A grammar that is learnt from trees."""

    @abstractmethod
    def sentences(self) -> Iterator[Sentence]:
        """The treebank."""

    def grammar(self, cache: Path) -> Grammar:
        check_name(self.name, "a word order called")
        path = cache / f"{self.name}-{with_code(self.fingerprint(), self)}.grammar.json"
        if not path.exists():
            self.learn().save(path)
        return Grammar.load(path)

    def learn(self) -> Grammar:
        """The grammar, learnt now."""
        return Grammar.train(self.sentences(), self.name)


@dataclass(frozen=True)
class TreebankFiles(Learned):
    """CoNLL-U files, or folders of them, of one language."""

    name: str
    paths: tuple[Path, ...]

    def fingerprint(self) -> str:
        digests = [digest(file) for path in self.paths for file in treebank_files(path)]
        return fingerprint(model.FORMAT, self.name, digests)

    def sentences(self) -> Iterator[Sentence]:
        for path in self.paths:
            yield from read_treebank(path)

    def learn(self) -> Grammar:
        return Grammar.train(self.sentences(), self.name, path=self.paths[0])


@dataclass(frozen=True)
class PocketTreebank(Learned):
    """The treebank of Pocket English or of a word-order variant: `size` sentences of a stream that no corpus has."""

    name: str
    size: int = 3_000
    stream: int = 1_000

    def fingerprint(self) -> str:
        return fingerprint(model.FORMAT, self)

    def sentences(self) -> Iterator[Sentence]:
        return Pocket(order=self.name).sentences(self.size, self.stream)


@dataclass(frozen=True)
class GrammarFile(Superstrate):
    """A grammar that `calque grammar train` wrote."""

    name: str
    path: Path

    def fingerprint(self) -> str:
        return fingerprint(model.FORMAT, self.name, sha256(self.path))

    def grammar(self, cache: Path) -> Grammar:
        return Grammar.load(self.path)
