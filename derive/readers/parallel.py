"""Read parallel text as words, and word links in the WPT format (one link per line) or the Pharaoh format
(one sentence pair per line)."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.english import cut, split_words
from calque.derive.readers.lines import Lines, Numbered, Place, tokens

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # the words of a sentence and its translation
_APOSTROPHES = str.maketrans("’ʼ", "''")
_NOT = {"ca": "can", "sha": "shall", "wo": "will"}
_FULL = {f"{short}'": (f"{short}e",) for short in ("c", "d", "j", "l", "m", "n", "qu", "s", "t")} | {
    "du": ("de", "le"),
    "des": ("de", "les"),
    "au": ("à", "le"),
    "aux": ("à", "les"),
}
"""French elisions and contractions with their full forms (ignoring gender), as in the en-fr gold-link set
(Och and Ney 2000)."""


class TwoFiles:
    """The sentence pairs in two files with one sentence per line. Every iteration rereads the files."""

    def __init__(self, source: Path, target: Path) -> None:
        self.paths = source, target
        self.counts: Counter[str] = Counter()
        self.size, other = (sum(1 for _ in Lines(path, self.counts)) for path in self.paths)
        if other != self.size:
            raise BadInput(
                f"{other:,} lines, but {source} has {self.size:,}; the numbers of lines must match", target
            )

    def __iter__(self) -> Iterator[Pair]:
        for (_, source), (_, target) in zip(*map(Lines, self.paths), strict=True):
            yield tuple(tokens(source)), tuple(tokens(target))


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Return a text's lower-case words, tokenised as in gold-link sets: `it 's` for it's, `do not` for don't
    and, in French, `le ami` for l'ami."""
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
MANY = 10  # if this many sentence pairs have links, 0-based positions should include 0

Link = tuple[int, int]  # 0-based positions in the source and target sentence
Row = tuple[Place, int, Link, bool]  # a link, the index of its sentence pair, and whether it is sure
Links = list[Link]  # the sorted links of a sentence pair
Scored = dict[Link, float]  # a sentence pair's sorted links; higher scores are more certain

_GOLD = re.compile(r"(-?\d{1,9})([-p?])(-?\d{1,9})", re.ASCII)
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?::-?[0-9][0-9.]*(?:e-?[0-9]+)?)?")
_WPT = re.compile(r"(\d{1,9})\s+(-?\d{1,9})\s+(-?\d{1,9})(?:\s+([SP]))?(?:\s+[01]?\.?\d*)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A sentence pair's gold links; sure links are also possible links."""

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Gold:
    """The gold links of sentence pairs. `outside` describes links left out because they are outside the
    sentences."""

    pairs: tuple[GoldPair, ...]
    outside: tuple[str, ...]
    counts: Counter[str]


def read_gold(path: Path, lengths: Sequence[Link], *, from_one: bool | None = None) -> Gold:
    """Read the gold links of N sentence pairs; `lengths` contains each pair's two lengths, or UNKNOWN.

    WPT: `sentence source target [S|P] [confidence]`. Positions are 1-based. Sentence ids are consecutive
    numbers from 0 or 1, or N different numbers with gaps. Pharaoh: one line per pair, with `0-0` (sure) and
    `0p0` or `0?0` (possible). Positions are 0-based, or 1-based if `from_one`.
    """
    counts = Counter[str]()
    lines = list(Lines(path, counts, must_end=True))
    words = [word for _, line in lines for word in tokens(line)[:1]]
    if not words:
        raise BadInput("this file contains no links", path)
    if not _GOLD.fullmatch(words[0]):
        return _collect(_wpt(path, lines, len(lengths)), lengths, counts, 1)
    first = int(from_one or 0)
    gold = _collect(_pharaoh(path, lines, len(lengths), first), lengths, counts, first)
    if from_one is None:
        _check_base((pair.possible for pair in gold.pairs), path, "--from")
    return gold


def _check_base(pairs: Iterable[Iterable[Link]], path: Path, option: str) -> None:
    """Raise BadInput if links seem to be 1-based: at least MANY pairs have links, none with a position 0."""
    linked = [links for links in pairs if links]
    if len(linked) >= MANY and not any(0 in link for links in linked for link in links):
        bases = f"{option}-one for 1-based and {option}-zero for 0-based positions"
        raise BadInput(f"no position is 0: use {bases}", path)


def _collect(rows: Iterable[Row], lengths: Sequence[Link], counts: Counter[str], first: int) -> Gold:
    links: list[dict[Link, bool]] = [{} for _ in lengths]  # whether each link is sure
    outside = []
    for place, pair, (i, j), is_sure in rows:
        n, m = lengths[pair]
        if not (0 <= i < n and 0 <= j < m):
            reach = "" if UNKNOWN in (n, m) else f" of {n} and {m} words"
            link = f"the link {i + first} {j + first}, counted from {first},"
            outside.append(str(place.fault(f"{link} is outside sentences{reach}")))
            continue
        counts[TWICE] += links[pair].get((i, j)) == is_sure
        links[pair][i, j] = is_sure or links[pair].get((i, j), False)
    pairs = tuple(GoldPair(frozenset(link for link in own if own[link]), frozenset(own)) for own in links)
    counts["links outside their sentences"] = len(outside)
    counts["sentence pairs without a link"] = sum(not pair.possible for pair in pairs)
    return Gold(pairs, tuple(outside), +counts)


def _pharaoh(path: Path, lines: list[Numbered], pairs: int, first: int) -> Iterator[Row]:
    if len(lines) != pairs:
        raise BadInput(f"{len(lines):,} lines of links, but {pairs:,} sentence pairs", path)
    for pair, (place, line) in enumerate(lines):
        for token in tokens(line):
            if (match := _GOLD.fullmatch(token)) is None:
                expected = "expected 0-0 for a sure link, 0p0 for a possible one"
                raise place.fault(f"{token!r} is not a link; {expected}")
            yield place, pair, (int(match[1]) - first, int(match[3]) - first), match[2] == "-"


def _wpt(path: Path, lines: list[Numbered], pairs: int) -> Iterator[Row]:
    matches = []
    for place, line in lines:
        match = _WPT.fullmatch(line)
        if match is None or match[2] == match[3] == "0":
            raise place.fault(
                f"{line!r} is not a link; expected sentence, source, target and S or P, 1-based"
            )
        matches.append((place, match))
    ids = list(dict.fromkeys(int(match[1]) for _, match in matches))
    first = min(1, *ids)
    numbers = {id_: id_ - first for id_ in ids}
    if max(ids) - first >= pairs:
        if len(ids) != pairs:
            found = f"{len(ids):,} sentence ids, from {min(ids)} to {max(ids)}, for {pairs:,} sentence pairs"
            raise BadInput(f"{found}; use consecutive numbers, or exactly one id per pair", path)
        numbers = {id_: number for number, id_ in enumerate(ids)}
    for place, match in matches:
        yield place, numbers[int(match[1])], (int(match[2]) - 1, int(match[3]) - 1), match[4] != "P"


def read_links(
    path: Path, counts: Counter[str] | None = None, *, from_one: bool | None = False
) -> Iterator[Links]:
    """Stream the sorted links of each sentence pair. Positions are 0-based, or 1-based if `from_one`; None
    means 0-based, but raises BadInput for a file that seems to be 1-based. Scores, as in `0-2:0.9`, are
    ignored."""
    if from_one is None:
        _check_base(read_links(path), path, "--links-from")
    first = int(from_one or 0)
    for place, line in Lines(path, counts, must_end=True):
        links = list[Link]()
        for token in tokens(line):
            match = _LINK.fullmatch(token)
            if match is None or min(int(match[1]), int(match[2])) < first:
                raise place.fault(f"{token!r} is not a link; expected a {first}-based link such as 1-2")
            links.append((int(match[1]) - first, int(match[2]) - first))
        unique = sorted(set(links))
        if counts is not None and len(unique) < len(links):
            counts[TWICE] += len(links) - len(unique)
        yield unique


def check_inside(links: Iterable[Link], lengths: Link, path: Path, line: int, from_one: bool | None) -> None:
    """Raise BadInput for links outside sentences of the given lengths."""
    (n, m), first = lengths, int(from_one or 0)
    for i, j in links:
        if not (0 <= i < n and 0 <= j < m):
            hint = "" if from_one is not None else "; use --links-from-one if positions are 1-based"
            fault = f"{i + first}-{j + first} is outside sentences of {n} and {m} words{hint}"
            raise BadInput(fault, path, line)
