"""Read word links in WPT's format, with one link per line, and Pharaoh's, with one sentence pair per line."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from calque.derive.errors import BadInput
from calque.derive.readers.lines import Lines, Numbered, Place, tokens

UNKNOWN = sys.maxsize  # the length of a sentence that is not available
TWICE = "links that occur twice"
PHARAOH, WPT = "Pharaoh's: a line per sentence pair, p is possible", "WPT's: pair, source, target"
FORMS = f"expected 0-0 0p1 ({PHARAOH}) or 1 2 2 P ({WPT})"
MANY = 10  # among this many linked sentence pairs, 0-based positions should include 0

Link = tuple[int, int]  # 0-based positions in the source and target sentence
Links = list[Link]  # the sorted links of a sentence pair
Scored = dict[Link, float]  # a sentence pair's sorted links; higher scores are more certain

_GOLD = re.compile(r"(-?\d{1,9})([-p?])(-?\d{1,9})", re.ASCII)
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?::-?[0-9][0-9.]*(?:e-?[0-9]+)?)?")
_WPT = re.compile(
    r"(\d{1,9})\s+(-?\d{1,9})\s+(-?\d{1,9})(?:\s+([SP]))?(?:\s+(0|1|0?\.\d+|1\.0+))?\s*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A sentence pair's gold links; sure links are also possible links."""

    sure: frozenset[Link]
    possible: frozenset[Link]


@dataclass(frozen=True)
class Gold:
    """The gold links of sentence pairs. `outside` describes links that were left out because they are outside
    the sentences. `declared`: whether the format or the caller specifies if positions are 0-based."""

    pairs: tuple[GoldPair, ...]
    outside: tuple[str, ...]
    counts: Counter[str]
    declared: bool = field(default=True, compare=False)


class _Row(NamedTuple):
    """A 0-based link in the sentence pair with index `pair`; positions in the file start at `first`."""

    place: Place
    pair: int
    link: Link
    first: int
    sure: bool


def read_gold(path: Path, lengths: Sequence[Link], *, from_one: bool | None = None) -> Gold:
    """Read the gold links of N sentence pairs; `lengths` contains each pair's two lengths, or UNKNOWN.

    WPT: `sentence source target [S|P] [confidence]`. Positions are 1-based; sentence ids are consecutive,
        starting at 0 or 1, or there are N ids with gaps.
    Pharaoh: one line per pair, with `0-0` (sure) and `0p0` or `0?0` (possible). Positions are 0-based, or
        1-based if `from_one`.
    """
    counts = Counter[str]()
    reader = Lines(path, counts)
    lines = list(reader)
    last = _WPT.fullmatch(lines[-1][1])
    if not (last and last[4] and not last[5]):  # a line that ends in S or P cannot be truncated
        reader.check_end()
    words = [word for _, line in lines for word in tokens(line)[:1]]
    if not words:
        raise BadInput("this file contains no links", path)
    if not _GOLD.fullmatch(words[0]):
        return _collect(_wpt(path, lines, len(lengths), counts), lengths, counts)
    rows = list(_pharaoh(path, lines, len(lengths), int(from_one or 0)))
    gold = _collect(rows, lengths, counts)
    if from_one is not None:
        return gold
    if not has_zero([row.link] for row in rows) and (gold.outside or len({row.pair for row in rows}) >= MANY):
        raise BadInput(from_where("--from"), path)
    return replace(gold, declared=False)


def has_zero(pairs: Iterable[Iterable[Link]]) -> bool:
    """Whether any link contains position 0."""
    return any(0 in link for links in pairs for link in links)


def from_where(option: str) -> str:
    """Return an error message for positions that may be 0-based or 1-based; the two options start with
    `option`."""
    return f"no position is 0: use {option}-one for 1-based and {option}-zero for 0-based positions"


def _collect(rows: Iterable[_Row], lengths: Sequence[Link], counts: Counter[str]) -> Gold:
    sure: list[set[Link]] = [set() for _ in lengths]
    possible: list[set[Link]] = [set() for _ in lengths]
    outside, exchanged = [], 0
    for row in rows:
        (i, j), (n, m) = row.link, lengths[row.pair]
        exchanged += not (0 <= j < n and 0 <= i < m)
        if not (0 <= i < n and 0 <= j < m):
            reach = "" if UNKNOWN in (n, m) else f" of {n} and {m} words"
            link = f"{i + row.first} {j + row.first}, counted from {row.first},"
            outside.append(str(row.place.fault(f"the link {link} is outside sentences{reach}")))
            continue
        links = (sure if row.sure else possible)[row.pair]
        counts[TWICE] += row.link in links
        links.add(row.link)
    pairs = tuple(GoldPair(frozenset(s), frozenset(s | p)) for s, p in zip(sure, possible, strict=True))
    fewer = "; fewer if source and target are exchanged" if exchanged < len(outside) else ""
    counts[f"links outside their sentences{fewer}"] = len(outside)
    counts["sentence pairs without a link"] = sum(not pair.possible for pair in pairs)
    return Gold(pairs, tuple(outside), +counts)


def _pharaoh(path: Path, lines: list[Numbered], pairs: int, first: int) -> Iterator[_Row]:
    if len(lines) != pairs:
        raise BadInput(f"{len(lines):,} lines of links, but {pairs:,} sentence pairs", path)
    for pair, (place, line) in enumerate(lines):
        for token in tokens(line):
            match = _GOLD.fullmatch(token)
            if match is None:
                raise place.fault(f"{token!r} is not a link; {FORMS}")
            yield _Row(place, pair, (int(match[1]) - first, int(match[3]) - first), first, match[2] == "-")


def _wpt(path: Path, lines: list[Numbered], pairs: int, counts: Counter[str]) -> Iterator[_Row]:
    matches = []
    for place, line in lines:
        match = _WPT.fullmatch(line)
        if match is None:
            raise place.fault(f"{line!r} is not a link; {FORMS}")
        matches.append((place, match))
    numbers = _pair_numbers(path, list(dict.fromkeys(int(match[1]) for _, match in matches)), pairs)
    for place, match in matches:
        if match[2] == match[3] == "0":
            raise place.fault("a link between positions 0 and 0, but positions in the WPT format are 1-based")
        counts["unused confidences"] += match[5] is not None
        yield _Row(place, numbers[int(match[1])], (int(match[2]) - 1, int(match[3]) - 1), 1, match[4] != "P")


def _pair_numbers(path: Path, ids: list[int], pairs: int) -> dict[int, int]:
    first = min(1, *ids)
    if max(ids) - first < pairs:
        return {id_: id_ - first for id_ in ids}
    if len(ids) == pairs:
        return {id_: number for number, id_ in enumerate(ids)}
    found = f"{len(ids):,} sentence ids, from {min(ids)} to {max(ids)}, for {pairs:,} sentence pairs"
    raise BadInput(f"{found}; use consecutive numbers, or exactly one id per pair", path)


def read_links(
    path: Path, counts: Counter[str] | None = None, *, from_one: bool | None = False
) -> Iterator[Links]:
    """Stream the sorted links of sentence pairs. Positions are 0-based, or 1-based if `from_one`; None means
    0-based, but raises BadInput if no position is 0 in a file with at least `MANY` linked pairs. Scores, as
    in `0-2:0.9`, are ignored."""
    if from_one is None:
        with_links = list(islice(filter(None, read_links(path)), MANY))
        if len(with_links) == MANY and not has_zero(read_links(path)):
            raise BadInput(from_where("--links-from"), path)
    first = int(from_one or 0)
    for place, line in Lines(path, counts, must_end=True):
        links = list[Link]()
        for token in tokens(line):
            match = _LINK.fullmatch(token)
            if match is None:
                raise place.fault(f"{token!r} is not a link; expected a link such as 0-2")
            links.append((int(match[1]) - first, int(match[2]) - first))
            if min(links[-1]) < 0:
                raise place.fault(f"{token!r} contains position 0, but positions are 1-based")
        unique = sorted(set(links))
        if counts is not None and len(unique) < len(links):
            counts[TWICE] += len(links) - len(unique)
        yield unique


def check_inside(links: Iterable[Link], lengths: Link, path: Path, line: int, from_one: bool | None) -> None:
    """Raise BadInput for links outside sentences of the given lengths, with a hint if source and target may
    be exchanged or positions 1-based."""
    links = list(links)
    (n, m), first = lengths, int(from_one or 0)
    for i, j in links:
        if not (0 <= i < n and 0 <= j < m):
            hint = "" if from_one is not None else "; use --links-from-one if positions are 1-based"
            if all(0 <= j < n and 0 <= i < m for i, j in links):
                hint += "; the links fit if source and target are exchanged"
            fault = f"{i + first}-{j + first} is outside sentences of {n} and {m} words"
            raise BadInput(fault + hint, path, line)
