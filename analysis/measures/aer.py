"""Gold sets, and links counted against their links: alignment error rate, precision, recall, F1 (Och and Ney 2003).

The links of a gold set come from annotators, or from the derivation of a language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.records.link_counts import LinkCounts
from derive.errors import BadInput
from derive.languages import Languages
from derive.links.aligner import Links, Pair
from derive.readers.gold import Gold, GoldLinks, Link, read_gold
from derive.readers.lines import read_lines, tokens

SETS = ("de-en", "en-fr", "ro-en", "en-hi")
"""The sets of XLM-Align's Table 2, each named after its source and its target language."""


def score(gold: GoldLinks, links: Iterable[Link]) -> LinkCounts:
    """The counts of one sentence pair; a link that is predicted twice counts once."""
    predicted = frozenset(links)
    return LinkCounts(1, len(predicted), len(gold.sure), len(predicted & gold.sure), len(predicted & gold.possible))


def score_all(gold: Iterable[GoldLinks], links: Iterable[Iterable[Link]]) -> LinkCounts:
    """The counts of a corpus: the sum over its sentence pairs, which may stream.

    Raises:
        ValueError: the two do not have the same number of sentence pairs.
    """
    return sum((score(*pair) for pair in zip(gold, links, strict=True)), LinkCounts())


def score_each(
    gold: Iterable[GoldLinks], links: Iterable[Sequence[Iterable[Link]]], aligners: int
) -> list[list[LinkCounts]]:
    """The counts of several aligners, pair by pair; `links` has, for each sentence pair, those of every aligner.

    Raises:
        ValueError: the two do not have the same number of sentence pairs, or a pair not the links of every aligner.
    """
    columns: list[list[LinkCounts]] = [[] for _ in range(aligners)]
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
    """Open a set such as de-en: `folder`/de-en with `test.de`, `test.en` and `alignv2.txt` in WPT's format.

    Raises:
        BadInput: a file is missing or malformed, or they do not fit each other.
    """
    home = folder / name
    source, _, target = name.partition("-")
    pairs = read_pairs(home / f"test.{source}", home / f"test.{target}")
    return GoldSet(name, pairs, read_gold(home / "alignv2.txt", lengths(pairs)))


def read_pairs(source: Path, target: Path) -> tuple[Pair, ...]:
    """The words, separated by spaces and tabs, of two files of one sentence per line.

    Raises:
        BadInput: the files do not have the same number of lines, or a line has no words.
    """
    sides = [[_words(path, *line) for line in read_lines(path)] for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise BadInput(f"{len(sides[1]):,} sentences for the {len(sides[0]):,} of {source}", target)
    return tuple(zip(*sides, strict=True))


def lengths(pairs: Iterable[Pair]) -> list[Link]:
    """Each pair's two lengths in words."""
    return [(len(source), len(target)) for source, target in pairs]


def _words(path: Path, number: int, line: str) -> tuple[str, ...]:
    words = tuple(tokens(line))
    if not words:
        raise BadInput("a line without words; expected a sentence", path, number)
    return words


@dataclass(frozen=True)
class DerivedPair:
    """A sentence of w words and its image, with the alignment known from its derivation.

    source, derived: the ids of either side, (n,) each: words change places, their sub-words do not.
    source_pieces, derived_pieces: (w,) each, how many sub-words each word has.
    origin: (w,) the place in the source of each derived word.
    """

    source: np.ndarray
    derived: np.ndarray
    source_pieces: np.ndarray
    derived_pieces: np.ndarray
    origin: np.ndarray

    @property
    def words(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The ids of each word of either side."""
        return cut(self.source, self.source_pieces), cut(self.derived, self.derived_pieces)

    @property
    def links(self) -> Links:
        """The gold links between words, sorted: a bijection."""
        return sorted((old, new) for new, old in enumerate(self.origin.tolist()))

    @property
    def piece_order(self) -> np.ndarray:
        """The place in the source of each derived sub-word, (n,)."""
        starts = (np.cumsum(self.source_pieces) - self.source_pieces)[self.origin]
        ends = np.cumsum(self.derived_pieces)
        return np.repeat(starts - ends + self.derived_pieces, self.derived_pieces) + np.arange(len(self.derived))


def derived_pairs(languages: Languages, lines: Iterable[int] | None = None) -> Iterator[DerivedPair]:
    """Stream the sentences of a study's source that have an image in its one derived language, with their images.

    `lines` are lines of the derived corpus, counted from 0; without them, all.

    Raises:
        BadInput: something is missing, damaged or of another study.
    """
    bitext, (language,) = languages.bitexts[0], languages.others
    old, new = bitext.first.corpus, bitext.second.corpus
    for line in range(len(bitext)) if lines is None else lines:
        source, _ = bitext.lines[line]
        pair = DerivedPair(
            old[source].astype(np.int64),
            new[line].astype(np.int64),
            old.pieces[slice(*old.words[source : source + 2])].astype(np.int64),
            new.pieces[slice(*new.words[line : line + 2])].astype(np.int64),
            new.order(line).astype(np.int64),
        )
        if not (
            np.array_equal(np.sort(pair.origin), np.arange(len(pair.source_pieces)))
            and np.array_equal(pair.source_pieces[pair.origin], pair.derived_pieces)
            and np.array_equal(bitext.second.of_words(pair.source[pair.piece_order], pair.derived_pieces), pair.derived)
        ):
            raise BadInput(
                f"line {line + 1:,} is no image of line {source + 1:,} of the source", languages.folder / language
            )
        yield pair


def cut(ids: np.ndarray, pieces: np.ndarray) -> list[tuple[int, ...]]:
    """The ids of each word."""
    return [tuple(word.tolist()) for word in np.split(ids, np.cumsum(pieces)[:-1])]
