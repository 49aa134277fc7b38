"""Score links against gold sets by alignment error rate, precision, recall and F1 (Och and Ney 2003)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calque.analysis.records.record import LinkCounts
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Pair
from calque.derive.readers.links import Gold, GoldPair, Link, read_gold
from calque.derive.readers.parallel import TwoFiles

SETS = ("de-en", "en-fr", "ro-en", "en-hi")  # in XLM-Align's Table 2


def score(gold: GoldPair, links: Iterable[Link]) -> LinkCounts:
    """Return the link counts for one sentence pair; duplicate predictions count once."""
    predicted = frozenset(links)
    found = len(predicted & gold.sure), len(predicted & gold.possible)
    return LinkCounts(1, len(predicted), len(gold.sure), *found)


def score_all(gold: Iterable[GoldPair], links: Iterable[Iterable[Link]]) -> LinkCounts:
    """Sum the link counts over a corpus. Raises ValueError if the arguments differ in length."""
    return sum((score(*pair) for pair in zip(gold, links, strict=True)), LinkCounts())


def score_each(
    gold: Iterable[GoldPair], links: Iterable[Sequence[Iterable[Link]]], n: int
) -> list[list[LinkCounts]]:
    """Return one list for each of `n` aligners with its link counts for every sentence pair; for each pair,
    `links` yields all aligners' links. Raises ValueError if links are missing."""
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
        sure = sum(len(links.sure) for links in self.gold.pairs)
        possible = sum(len(links.possible) for links in self.gold.pairs)
        words = [sum(len(pair[side]) for pair in self.pairs) for side in (0, 1)]
        sizes = {"sentence pairs": len(self.pairs), "source words": words[0], "target words": words[1]}
        links = {"sure links": sure, "other possible links": possible - sure}
        return Counter(sizes | links | self.gold.counts)


def gold_set(folder: Path, name: str) -> GoldSet:
    """Open a gold set by name: for de-en, `folder`/de-en contains `test.de`, `test.en` and `alignv2.txt` in
    WPT format. Raises BadInput if a file is missing or malformed, or if the files do not match."""
    home, (source, _, target) = folder / name, name.partition("-")
    pairs = read_pairs(home / f"test.{source}", home / f"test.{target}")
    return GoldSet(name, pairs, read_gold(home / "alignv2.txt", lengths(pairs)))


def read_pairs(source: Path, target: Path) -> tuple[Pair, ...]:
    """Read sentence pairs from two parallel files. Raises BadInput if a line contains no words."""
    pairs = tuple(TwoFiles(source, target))
    for number, pair in enumerate(pairs, start=1):
        if not all(pair):
            raise BadInput("the line has no words", target if pair[0] else source, number)
    return pairs


def lengths(pairs: Iterable[Pair]) -> list[Link]:
    """Return the numbers of source and target words in each pair."""
    return [(len(source), len(target)) for source, target in pairs]
