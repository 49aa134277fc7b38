"""Read parallel text as words, and word links in the WPT format (gold sets) and the Pharaoh format."""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.english import cut, split_words
from calque.derive.readers.lines import read_lines, tokens

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # the words of a sentence and its translation
_APOSTROPHES = str.maketrans("’ʼ", "''")
_NOT = {"ca": "can", "sha": "shall", "wo": "will"}
_FULL = {f"{short}'": (f"{short}e",) for short in ("c", "d", "j", "l", "m", "n", "qu", "s", "t")} | {
    "du": ("de", "le"),
    "des": ("de", "les"),
    "au": ("à", "le"),
    "aux": ("à", "les"),
}
"""The full forms of French elisions and contractions in the en-fr gold-link set (Och and Ney 2000)."""


class TwoFiles:
    """The sentence pairs in two files with one sentence per line. Every iteration rereads the files."""

    def __init__(self, source: Path, target: Path) -> None:
        self.paths = source, target
        size, target_size = (sum(1 for _ in read_lines(path)) for path in self.paths)
        if target_size != size:
            fault = f"{target_size:,} lines, but {source} has {size:,}; the numbers of lines must match"
            raise BadInput(fault, target)

    def __iter__(self) -> Iterator[Pair]:
        for (_, source), (_, target) in zip(*map(read_lines, self.paths), strict=True):
            yield tuple(tokens(source)), tuple(tokens(target))


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Return a text's lower-case words as in gold-link sets: `it 's` for it's, `do not` for don't and, in
    French, `le ami` for l'ami."""
    words: list[str] = []
    for sentence in cut(text.translate(_APOSTROPHES)):
        *parts, last = sentence.split()
        for part in parts:
            words += _words(f"{part} ", language)  # the space makes a full stop part of its abbreviation
        words += _words(last, language)
    return tuple(words)


@lru_cache(1 << 18)
def _words(part: str, language: str) -> tuple[str, ...]:
    words = split_words(part.lower())
    if language == "fr":
        pieces = (piece for word in words for piece in re.split(r"(?<=')|(?<=\w)(-)(?=\w)", word) if piece)
        return tuple(full for piece in pieces for full in _FULL.get(piece, (piece,)))
    return tuple(piece for word in words for piece in _at_apostrophe(word))


def _at_apostrophe(word: str) -> list[str]:
    head, mark, tail = word.partition("'")
    if not head or not tail:
        return [word]
    if tail == "t" and head.endswith("n"):
        return [_NOT.get(head[:-1], head[:-1]), "not"]
    return [head, mark + tail]


UNKNOWN = sys.maxsize  # the length of sentences that are not available
TWICE = "links that occur twice"

Link = tuple[int, int]  # 0-based positions in the source and target sentence
Links = list[Link]  # the sorted links of a sentence pair

_LINK = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_WPT = re.compile(
    r"(\d{1,9})\s+(?!0\s+0\b)(-?\d{1,9})\s+(-?\d{1,9})(?:\s+([SP]))?(?:\s+[01]?\.?\d*)?\s*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A sentence pair's gold links; sure links are also possible links."""

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Gold:
    """The gold links of sentence pairs; `outside` describes those left out as outside the sentences."""

    pairs: tuple[GoldPair, ...]
    outside: tuple[str, ...]
    counts: Counter[str]


def read_gold(path: Path, lengths: Sequence[Link]) -> Gold:
    """Read the gold links of N sentence pairs with the given lengths. Each line is `sentence source target
    [S|P] [confidence]` (WPT), with 1-based positions. Sentence ids are consecutive numbers from 0 or 1, or N
    different numbers with gaps."""
    counts, links, outside = Counter[str](), [dict[Link, bool]() for _ in lengths], list[str]()
    matches = []
    for place, line in read_lines(path, must_end=True):
        if not (match := _WPT.fullmatch(line)):
            raise place.fault(
                f"{line!r} is not a link; expected sentence, source, target and S or P, 1-based"
            )
        matches.append((place, match))
    numbers = _pair_numbers([int(match[1]) for _, match in matches], len(lengths), path)
    for (place, match), pair in zip(matches, numbers, strict=True):
        link, is_sure = (int(match[2]) - 1, int(match[3]) - 1), match[4] != "P"
        if fault := _outside(link, lengths[pair], 1):
            outside.append(str(place.fault(fault)))
            continue
        counts[TWICE] += links[pair].get(link) == is_sure
        links[pair][link] = is_sure or links[pair].get(link, False)
    sure = ([link for link in linked if linked[link]] for linked in links)
    pairs = tuple(map(GoldPair, map(frozenset, sure), map(frozenset, links)))
    counts["links outside their sentences"] = len(outside)
    counts["sentence pairs without a link"] = links.count({})
    return Gold(pairs, tuple(outside), +counts)


def _pair_numbers(ids: list[int], pairs: int, path: Path) -> list[int]:
    distinct = list(dict.fromkeys(ids))
    first, last = min(1, *ids), max(ids)
    if last - first < pairs:
        return [id_ - first for id_ in ids]
    if len(distinct) != pairs:
        fault = f"{len(distinct):,} sentence ids, from {min(ids)} to {last}, for {pairs:,} sentence pairs"
        raise BadInput(f"{fault}; use consecutive numbers, or exactly one id per pair", path)
    return list(map({id_: number for number, id_ in enumerate(distinct)}.__getitem__, ids))


def read_links(path: Path, counts: Counter[str], lengths: Sequence[Link] | None = None) -> list[Links]:
    """Read the sorted links of each sentence pair: one line per pair, with 0-based links such as `1-2`
    (Pharaoh). Raises BadInput for links outside sentences of these lengths."""
    lines = list(read_lines(path, must_end=True))
    if lengths is not None and len(lines) != len(lengths):
        raise BadInput(f"{len(lines):,} lines of links, but {len(lengths):,} sentence pairs", path)
    links = []
    for (place, line), size in zip(lines, lengths or [(UNKNOWN, UNKNOWN)] * len(lines), strict=True):
        linked = set[Link]()
        for token in tokens(line):
            if not (match := _LINK.fullmatch(token)):
                raise place.fault(f"{token!r} is not a link; expected a link such as 1-2")
            link = int(match[1]), int(match[2])
            if fault := _outside(link, size, 0):
                raise place.fault(f"{fault}; if positions start at 1: perl -pe 's/\\d+/$& - 1/ge'")
            counts[TWICE] += link in linked
            linked.add(link)
        links.append(sorted(linked))
    return links


def _outside(link: Link, lengths: Link, first: int) -> str:
    """Return a message, with positions counted from `first`, if a link is outside its sentences, or ""."""
    (i, j), (n, m) = link, lengths
    if 0 <= i < n and 0 <= j < m:
        return ""
    reach = "" if UNKNOWN in lengths else f" of {n} and {m} words"
    return f"the link {i + first} {j + first}, counted from {first}, is outside sentences{reach}"
