"""Read parallel text as words, and word links in the WPT format (one link per line) or the Pharaoh format
(one sentence pair per line)."""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.english import cut, split_words
from calque.derive.readers.lines import Numbered, Place, read_lines, tokens

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
        self.size, target_size = (sum(1 for _ in read_lines(path, self.counts)) for path in self.paths)
        if target_size != self.size:
            raise BadInput(
                f"{target_size:,} lines, but {source} has {self.size:,}; the numbers of lines must match",
                target,
            )

    def __iter__(self) -> Iterator[Pair]:
        for (_, source), (_, target) in zip(*map(read_lines, self.paths), strict=True):
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
_SUBTRACT = "; if positions start at 1, subtract 1: perl -pe 's/\\d+/$& - 1/ge'"

Link = tuple[int, int]  # 0-based positions in the source and target sentence
Row = tuple[Place, int, Link, bool]  # a link, the index of its sentence pair, and whether it is sure
Links = list[Link]  # the sorted links of a sentence pair

_GOLD = re.compile(r"(-?\d{1,9})([-p?])(-?\d{1,9})", re.ASCII)
_LINK = re.compile(r"(\d{1,9})(-)(\d{1,9})(?::-?\d[\d.]*(?:e-?\d+)?)?", re.ASCII)
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
    """The gold links of sentence pairs. `outside` describes links left out because they are outside the
    sentences."""

    pairs: tuple[GoldPair, ...]
    outside: tuple[str, ...]
    counts: Counter[str]


def read_gold(path: Path, lengths: Sequence[Link]) -> Gold:
    """Read the gold links of N sentence pairs; `lengths` contains each pair's two lengths, or UNKNOWN.

    WPT: `sentence source target [S|P] [confidence]`. Positions are 1-based. Sentence ids are consecutive
    numbers from 0 or 1, or N different numbers with gaps. Pharaoh: one line per pair, with `0-0` (sure) and
    `0p0` or `0?0` (possible). Positions are 0-based; raises BadInput for a file that seems to be 1-based.
    """
    counts = Counter[str]()
    lines = list(read_lines(path, counts, must_end=True))
    words = [word for _, line in lines for word in tokens(line)[:1]]
    if not words:
        raise BadInput("this file contains no links", path)
    first = 0 if _GOLD.fullmatch(words[0]) else 1
    if first == 0:
        rows = _pharaoh(lines, len(lengths), _GOLD, "0-0 for a sure link, 0p0 for a possible one")
    else:
        rows = _wpt(lines, len(lengths))
    links: list[dict[Link, bool]] = [{} for _ in lengths]  # whether each link is sure
    outside = list[str]()
    for place, pair, link, is_sure in rows:
        if fault := _outside(link, lengths[pair], first):
            outside.append(str(place.fault(fault)))
            continue
        counts[TWICE] += links[pair].get(link) == is_sure
        links[pair][link] = is_sure or links[pair].get(link, False)
    if first == 0:
        _check_base(links, path)
    sure = ([link for link in linked if linked[link]] for linked in links)
    pairs = tuple(map(GoldPair, map(frozenset, sure), map(frozenset, links)))
    counts["links outside their sentences"] = len(outside)
    counts["sentence pairs without a link"] = links.count({})
    return Gold(pairs, tuple(outside), +counts)


def read_links(path: Path, counts: Counter[str], lengths: Sequence[Link] | None = None) -> list[Links]:
    """Read the sorted links of each sentence pair, with positions as in `read_gold`; raise BadInput for links
    outside sentences of the given lengths. Scores, as in `0-2:0.9`, are ignored."""
    lines = list(read_lines(path, counts, must_end=True))
    lengths = [(UNKNOWN, UNKNOWN)] * len(lines) if lengths is None else lengths
    links: list[set[Link]] = [set() for _ in lines]
    for place, pair, link, _ in _pharaoh(lines, len(lengths), _LINK, "a link such as 1-2"):
        if fault := _outside(link, lengths[pair], 0):
            raise place.fault(fault + _SUBTRACT)
        counts[TWICE] += link in links[pair]
        links[pair].add(link)
    _check_base(links, path)
    return list(map(sorted, links))


def _pharaoh(lines: list[Numbered], pairs: int, pattern: re.Pattern[str], expected: str) -> Iterator[Row]:
    if len(lines) != pairs:
        raise BadInput(f"{len(lines):,} lines of links, but {pairs:,} sentence pairs", lines[0][0].path)
    for pair, (place, line) in enumerate(lines):
        for token in tokens(line):
            match = _matched(pattern, token, place, expected)
            yield place, pair, (int(match[1]), int(match[3])), match[2] == "-"


def _matched(pattern: re.Pattern[str], text: str, place: Place, expected: str) -> re.Match[str]:
    if match := pattern.fullmatch(text):
        return match
    raise place.fault(f"{text!r} is not a link; expected {expected}")


def _wpt(lines: list[Numbered], pairs: int) -> Iterator[Row]:
    expected = "sentence, source, target and S or P, 1-based"
    matches = [(place, _matched(_WPT, line, place, expected)) for place, line in lines]
    ids = list(dict.fromkeys(int(match[1]) for _, match in matches))
    first = min(1, *ids)
    numbers = {id_: id_ - first for id_ in ids}
    if max(ids) - first >= pairs:
        if len(ids) != pairs:
            fault = f"{len(ids):,} sentence ids, from {min(ids)} to {max(ids)}, for {pairs:,} sentence pairs"
            advice = "use consecutive numbers, or exactly one id per pair"
            raise BadInput(f"{fault}; {advice}", lines[0][0].path)
        numbers = {id_: number for number, id_ in enumerate(ids)}
    for place, match in matches:
        yield place, numbers[int(match[1])], (int(match[2]) - 1, int(match[3]) - 1), match[4] != "P"


def _outside(link: Link, lengths: Link, first: int) -> str:
    """Return a message, with positions counted from `first`, if a link is outside sentences of these lengths,
    or ""."""
    (i, j), (n, m) = link, lengths
    if 0 <= i < n and 0 <= j < m:
        return ""
    reach = "" if UNKNOWN in lengths else f" of {n} and {m} words"
    return f"the link {i + first} {j + first}, counted from {first}, is outside sentences{reach}"


def _check_base(pairs: Iterable[Collection[Link]], path: Path) -> None:
    """Raise BadInput if links seem to be 1-based: at least MANY pairs have links, none with a position 0."""
    linked_pairs = [links for links in pairs if links]
    if len(linked_pairs) >= MANY and not any(0 in link for links in linked_pairs for link in links):
        raise BadInput(f"no position is 0{_SUBTRACT}", path)
