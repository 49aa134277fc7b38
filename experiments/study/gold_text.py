"""Gold sets of word links, and training text for them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from calque.analysis.measures.aer import GoldSet, gold_set
from calque.derive.artefact import digest
from calque.derive.build import write_translation
from calque.derive.fingerprint import fingerprint
from calque.derive.folder import FORMAT, KIND, NamePair
from calque.derive.language import SOURCE
from calque.derive.links.aligner import Pair
from calque.derive.natural.files import BitextFiles
from calque.derive.readers.lines import EDITION
from calque.experiments.run.step import Machine, Step

GOLD_FORMAT = 2  # increase it when a code change gives different sentences from the same files


@dataclass(frozen=True)
class GoldText:
    """The gold set `name` in the folder `gold`, and parallel text in the same two languages, with a joint
    vocabulary of `vocabulary` types."""

    gold: Path
    name: str
    text: tuple[BitextFiles, ...] = ()
    vocabulary: int = 0

    @cached_property
    def set(self) -> GoldSet:
        return gold_set(self.gold, self.name)

    @property
    def pair(self) -> NamePair:
        first, _, second = self.name.partition("-")
        return first, second

    def step(self, home: Path) -> Step:
        place, title = home / self.name / "languages", f"languages {self.name}"
        return Step(_translate, self, place, title, "derive", KIND, FORMAT)

    def identity(self) -> dict[str, Any]:
        return {"text": self.digest, "vocabulary": self.vocabulary}

    def language(self, step: Step, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        return step.fingerprint

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        return self.vocabulary

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple((SOURCE, name) for name in names)

    @cached_property
    def digest(self) -> str:
        files = [[_digest(path) for path in (source.path, source.beside) if path] for source in self.text]
        switches = [(source.columns, source.escaped) for source in self.text]
        return fingerprint(GOLD_FORMAT, EDITION, self.gold_digests, files, switches)

    @cached_property
    def gold_digests(self) -> list[str]:
        return [
            self.name,
            *(_digest(path) for path in sorted((self.gold / self.name).glob("*")) if path.is_file()),
        ]

    def own(self) -> list[Pair]:
        """Return the gold set's sentences, lower-cased."""
        return lowered(self.set.pairs)

    def pairs(self) -> tuple[list[Pair], Counter[str]]:
        """Return the distinct pairs in the set and the parallel text, and counts of pairs read and left
        out."""
        left_out: Counter[str] = Counter()
        everything = self.own() + [pair for text in self.text for pair in text.words(*self.pair, left_out)]
        once = list(dict.fromkeys(everything))
        left_out["sentence pairs that were there already"] += len(everything) - len(once)
        left_out["sentence pairs learnt from"] += len(once)
        return once, left_out


def _translate(step: Step, machine: Machine) -> None:
    text: GoldText = step.config
    machine.report(step.title, 0, 1)
    pairs, _ = text.pairs()
    write_translation(pairs, text.pair[1], text.vocabulary, step.folder)
    machine.report(step.title, 1, 1)


def lowered(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs in lower case."""
    return [(tuple(map(str.lower, source)), tuple(map(str.lower, target))) for source, target in pairs]


def _digest(path: Path) -> str:
    """Return a file's SHA-256, or "" for a missing file, which its reader reports."""
    return digest(path) if path.is_file() else ""
