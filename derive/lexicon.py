"""A lexicon: which words are linked to which in a bitext, and how often; as a file of words, and as pairs of ids.

The file has a line an entry, `source<TAB>target<TAB>probability<TAB>count`, the most frequent first. A dictionary of
two columns, as published ones have, is read too: each of its entries counts once and has the probability 1. Two words
with spaces between them are an entry as well (MUSE's files have both).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from derive.errors import BadInput
from derive.files import whole_file
from derive.readers.lines import parse_integer, parse_number, read_lines, tokens
from derive.readers.parallel import Pair
from derive.vocabulary import Vocabulary

FORMAT = 2
"""Goes up when the same lexicon would give other pairs of ids, or the same in another order."""
EXPECTED = "expected a word and its translation, or both with a probability and a count, between tabs"
TWICE = "entries that occur twice"


@dataclass(frozen=True)
class Entry:
    """A word and a translation: `count` links, which are the fraction `probability` of all links of the word."""

    source: str
    target: str
    probability: float
    count: int


def counted(
    pairs: Iterable[tuple[Pair, Iterable[tuple[int, int]]]], least_count: int = 1, least_probability: float = 0.0
) -> list[Entry]:
    """The entries of sentence pairs with their links, the most frequent first, then by their words.

    Raises:
        ValueError: a link lies outside its sentences.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (source, target), links in pairs:
        for i, j in links:
            if not (0 <= i < len(source) and 0 <= j < len(target)):
                raise ValueError(f"the link {i}-{j} of sentences of {len(source)} and {len(target)} words")
            counts[source[i], target[j]] += 1
    totals: Counter[str] = Counter()
    for (word, _), count in counts.items():
        totals[word] += count
    entries = (Entry(*words, count / totals[words[0]], count) for words, count in counts.items())
    kept = [entry for entry in entries if entry.count >= least_count and entry.probability >= least_probability]
    return sorted(kept, key=lambda entry: (-entry.count, entry.source, entry.target))


def write_lexicon(path: Path, entries: Iterable[Entry]) -> None:
    """Write the entries, whole or not at all; probabilities have six digits."""
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{e.source}\t{e.target}\t{e.probability:.6g}\t{e.count}\n" for e in entries)


def read_lexicon(path: Path, counts: Counter[str] | None = None) -> list[Entry]:
    """The entries of a file, in its order. One that occurs twice without a probability is counted in `counts`.

    Raises:
        BadInput: with the line, if it is not an entry or repeats one with another probability; or the file is missing,
            empty or cut.
    """
    counts = Counter() if counts is None else counts
    entries: dict[tuple[str, str], Entry] = {}
    for number, line in read_lines(path, counts, ended=True):
        try:
            entry = _parse(line.split("\t") if "\t" in line else _two_words(line))
        except ValueError as error:
            raise BadInput(f"{line!r}: {error}", path, number) from None
        if entries.get((entry.source, entry.target)) == entry and line.count("\t") < 2:
            counts[TWICE] += 1
        elif (entry.source, entry.target) in entries:
            raise BadInput(f"a second entry for {entry.source} and {entry.target}", path, number)
        entries[entry.source, entry.target] = entry
    return list(entries.values())


def id_pairs(entries: Sequence[Entry], vocabulary: Vocabulary) -> tuple[np.ndarray, Counter[str]]:
    """The entries as pairs of ids of one vocabulary, and how many were left out, by reason.

    Only words of one sub-word, which is not the unknown one, have a row of their own in a model's table. Of a type's
    translations the most probable stays, of equally probable ones the most frequent, then the first. Two words that are
    one type need no aligning.

    Returns:
        (n, 2) int64, the most frequent entry first, each first id once; a second id may stand in several, and the first
        of these is its own likeliest translation.
    """
    left_out: Counter[str] = Counter()
    ids = [only_ids([getattr(entry, side) for entry in entries], vocabulary) for side in ("source", "target")]
    best: dict[int, tuple[float, int, int]] = {}
    for entry, source, target in zip(entries, *ids, strict=True):
        if source < 0 or target < 0:
            left_out["entries with a word of several sub-words, or of an unknown one"] += 1
        elif source == target:
            left_out["entries of two words of one type"] += 1
        elif source in best and best[source][:2] >= (entry.probability, entry.count):
            left_out["further translations of a type"] += 1
        else:
            left_out["further translations of a type"] += source in best
            best[source] = entry.probability, entry.count, target
    pairs = [(s, target) for s, (_, _, target) in sorted(best.items(), key=lambda item: -item[1][1])]
    return np.array(pairs, np.int64).reshape(-1, 2), +left_out


def only_ids(words: Sequence[str], vocabulary: Vocabulary) -> list[int]:
    """The only id of each word, -1 where it has several or is unknown."""
    ids, pieces = vocabulary.encode_all(words)
    first = ids[np.cumsum(pieces) - pieces]
    only: list[int] = np.where((pieces == 1) & (first != vocabulary.specials.unknown), first, -1).tolist()
    return only


def _two_words(line: str) -> list[str]:
    words = tokens(line)
    if len(words) > 2:
        raise ValueError("more than two words and no tab; expected a tab between an entry's two sides")
    return words


def _parse(columns: list[str]) -> Entry:
    source, target, *numbers = (column.strip(" ") for column in columns) if len(columns) in (2, 4) else ("", "")
    if not (source.strip() and target.strip()):
        raise ValueError(EXPECTED)
    if not numbers:
        return Entry(source, target, 1.0, 1)
    try:
        probability, count = parse_number(numbers[0]), parse_integer(numbers[1])
    except ValueError:
        raise ValueError(EXPECTED) from None
    if not (0 < probability <= 1 and count > 0):
        raise ValueError("a probability is above 0 and at most 1, a count above 0")
    return Entry(source, target, probability, count)
