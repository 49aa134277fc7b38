"""A gold set of word links, and the text that aligners and encoders learn from beside its own sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analysis.measures.gold import GoldSet, gold_set
from derive.artefact import digest
from derive.files import fingerprint
from derive.links.aligner import Pair
from derive.readers.parallel import ParallelText

FORMAT = 2
"""Goes up when the same files would give other sentences."""


@dataclass(frozen=True)
class GoldText:
    """The gold set `name` in the folder `gold`, and parallel text of the same two languages."""

    gold: Path
    name: str
    text: tuple[ParallelText, ...] = ()

    @property
    def source(self) -> str:
        """The code of the first language."""
        return self.name.partition("-")[0]

    @property
    def target(self) -> str:
        """The code of the second language."""
        return self.name.partition("-")[2]

    @cached_property
    def set(self) -> GoldSet:
        """The gold set."""
        return gold_set(self.gold, self.name)

    def own(self) -> list[Pair]:
        """The gold set's sentences, in lower case."""
        return lowered(self.set.pairs)

    def pairs(self) -> tuple[list[Pair], Counter[str]]:
        """The set's own sentences and the parallel text, each pair once, and what was left out."""
        left_out: Counter[str] = Counter()
        everything = self.own()
        everything += [pair for text in self.text for pair in text.words(self.source, self.target, left_out)]
        once = list(dict.fromkeys(everything))
        left_out["sentence pairs that were there already"] += len(everything) - len(once)
        left_out["sentence pairs learnt from"] += len(once)
        return once, left_out

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the sentences."""
        files = [[_digest(path) for path in (source.path, source.beside) if path] for source in self.text]
        return fingerprint(FORMAT, self.gold_digests, files, [(source.turned, source.escaped) for source in self.text])

    @cached_property
    def gold_digests(self) -> list[str]:
        """Change with the gold set."""
        return [self.name, *(_digest(path) for path in sorted((self.gold / self.name).glob("*")) if path.is_file())]


def lowered(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs in lower case."""
    return [(tuple(map(str.lower, source)), tuple(map(str.lower, target))) for source, target in pairs]


def digests(folder: Path) -> dict[str, str]:
    """The digests of the files of a folder, by name."""
    return {path.name: _digest(path) for path in sorted(folder.glob("*")) if path.is_file()}


def _digest(path: Path) -> str:
    """The file's SHA-256; a file that is not there has none, and whoever reads it says so."""
    if not path.is_file():
        return ""
    return digest(path)
