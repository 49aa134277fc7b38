"""Gold sets, and scores of links against them: alignment error rate, precision, recall, F1 (Och and Ney 2003)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calque.analysis.records.record import LinkCounts
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Pair
from calque.derive.readers.lines import read_lines, tokens
from calque.derive.readers.links import Gold, GoldPair, Link, read_gold

SETS = ("de-en", "en-fr", "ro-en", "en-hi")  # XLM-Align's Table 2; each is named after its source and its target


def score(gold: GoldPair, links: Iterable[Link]) -> LinkCounts:
    """The counts of one sentence pair; a link predicted twice counts once."""
    predicted = frozenset(links)
    return LinkCounts(1, len(predicted), len(gold.sure), len(predicted & gold.sure), len(predicted & gold.possible))


def score_all(gold: Iterable[GoldPair], links: Iterable[Iterable[Link]]) -> LinkCounts:
    """The counts of a corpus: the sum over its pairs, which may stream. Raises ValueError if lengths differ."""
    return sum((score(*pair) for pair in zip(gold, links, strict=True)), LinkCounts())


def score_each(gold: Iterable[GoldPair], links: Iterable[Sequence[Iterable[Link]]], n: int) -> list[list[LinkCounts]]:
    """The counts of `n` aligners, pair by pair; `links` has each pair's links by every aligner. Raises ValueError if
    their lengths differ, or a pair lacks an aligner's links."""
    columns: list[list[LinkCounts]] = [[] for _ in range(n)]
    for correct, row in zip(gold, links, strict=True):
        for column, each in zip(columns, row, strict=True):
            column.append(score(correct, each))
    return columns


@dataclass(frozen=True)
class GoldSet:
    """Sentence pairs with their gold links."""

    name: str
    pairs: tuple[Pair, ...]
    gold: Gold

    @property
    def counts(self) -> Counter[str]:
        """Sentence pairs, words and links, and the reader's counts of exclusions and oddities."""
        sure = sum(len(links.sure) for links in self.gold.pairs)
        possible = sum(len(links.possible) for links in self.gold.pairs)
        words = [sum(len(pair[side]) for pair in self.pairs) for side in (0, 1)]
        sizes = {"sentence pairs": len(self.pairs), "source words": words[0], "target words": words[1]}
        return Counter(sizes | {"sure links": sure, "other possible links": possible - sure} | self.gold.counts)


def gold_set(folder: Path, name: str) -> GoldSet:
    """Open a set such as de-en: `folder`/de-en with `test.de`, `test.en` and `alignv2.txt` in WPT's format. Raises
    BadInput if a file is missing or malformed, or the files do not match."""
    home, (source, _, target) = folder / name, name.partition("-")
    pairs = read_pairs(home / f"test.{source}", home / f"test.{target}")
    return GoldSet(name, pairs, read_gold(home / "alignv2.txt", lengths(pairs)))


def read_pairs(source: Path, target: Path) -> tuple[Pair, ...]:
    """The words, separated by spaces and tabs, of two files of one sentence per line. Raises BadInput if the files do
    not have the same number of lines, or a line has no words."""
    sides: list[list[tuple[str, ...]]] = []
    for path in (source, target):
        sides.append([])
        for number, line in read_lines(path):
            if not (words := tuple(tokens(line))):
                raise BadInput("a line without words; expected a sentence", path, number)
            sides[-1].append(words)
    if len(sides[0]) != len(sides[1]):
        raise BadInput(f"{len(sides[1]):,} sentences for the {len(sides[0]):,} of {source}", target)
    return tuple(zip(*sides, strict=True))


def lengths(pairs: Iterable[Pair]) -> list[Link]:
    """Each pair's two lengths in words."""
    return [(len(source), len(target)) for source, target in pairs]
