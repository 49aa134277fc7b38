"""Gold sets: sentence pairs whose word alignment is known, from annotators or from how a language was derived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from derive.errors import BadInput
from derive.languages import Languages
from derive.links.aligner import Links, Pair
from derive.readers.lines import read_lines, tokens
from derive.readers.links import Gold, GoldLinks, Link, read_gold

SETS = ("de-en", "en-fr", "ro-en", "en-hi")
"""The sets of XLM-Align's Table 2, each named after its source and its target language."""
MOVED = "′"
"""Ends a derived word or sub-word whose id is not its source's."""
REMEMBERED = 1 << 16


@dataclass(frozen=True)
class GoldSet:
    """Sentence pairs with their gold links."""

    name: str
    pairs: tuple[Pair, ...]
    gold: Gold

    @property
    def counts(self) -> Counter[str]:
        """Sentence pairs, words and links, and what was left out or is odd."""
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
    """The words, parted by spaces and tabs, of two files of one sentence a line.

    Raises:
        BadInput: the files have not the same number of lines, or a line has no words.
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
    """A sentence of w words and its image, with the alignment that its derivation knows.

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

    @property
    def piece_links(self) -> Links:
        """The gold links between sub-words, sorted: a bijection, each sub-word with its image."""
        return sorted((old, new) for new, old in enumerate(self.piece_order.tolist()))


def derived_pairs(folder: Path, language: str, lines: Iterable[int] | None = None) -> Iterator[DerivedPair]:
    """Stream the sentences of a derived study's source language that have an image in `language`, with their images.

    `folder` is what `derive_languages` wrote; `lines` are those of the derived corpus, counted from 0, or all.

    Raises:
        BadInput: something is missing, damaged or of another study.
    """
    bitext = Languages.open(folder, [language]).bitexts[0]
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
            raise BadInput(f"line {line + 1:,} is no image of line {source + 1:,} of the source", folder / language)
        yield pair


def derived_gold(folder: Path, language: str, *, pieces: bool = False) -> Iterator[tuple[Pair, GoldLinks]]:
    """Stream a derived study's sentence pairs, as words or as sub-words, with their gold links, all of them sure.

    A derived word is written as its source's, with a prime behind it if its ids are others: to an aligner that knows
    words by their looks alone they are other words.

    Raises:
        BadInput: as `derived_pairs`.
    """
    vocabulary = Languages.open(folder, [language]).vocabulary

    @lru_cache(REMEMBERED)
    def text(unit: tuple[int, ...]) -> str:
        return vocabulary.spelling(unit[0]) if pieces else vocabulary.text(unit)

    for pair in derived_pairs(folder, language):
        units = cut(pair.source, np.ones_like(pair.source) if pieces else pair.source_pieces)
        images = cut(pair.derived, np.ones_like(pair.derived) if pieces else pair.derived_pieces)
        links = pair.piece_links if pieces else pair.links
        source = tuple(map(text, units))
        derived = [""] * len(images)
        for old, new in links:
            derived[new] = source[old] + MOVED * (images[new] != units[old])
        gold = frozenset(links)
        yield (source, tuple(derived)), GoldLinks(gold, gold)


def cut(ids: np.ndarray, pieces: np.ndarray) -> list[tuple[int, ...]]:
    """The ids of each word."""
    return [tuple(word.tolist()) for word in np.split(ids, np.cumsum(pieces)[:-1])]
