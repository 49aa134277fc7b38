"""Gold word alignments in the usual formats: WPT's, one link a line, and Pharaoh's, one sentence pair a line."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from derive.errors import BadInput
from derive.readers.lines import read_lines, tokens

UNKNOWN = sys.maxsize
"""The length of a sentence that is not at hand."""

TWICE = "links that stand twice"
MANY = 10
"""Sentence pairs with links, among which some link has the place 0 if places count from 0."""

Link = tuple[int, int]
"""A place in the source sentence and one in the target sentence, both from 0."""

_PHARAOH = re.compile(r"(-?\d{1,9})([-p?])(-?\d{1,9})", re.ASCII)
_WPT = re.compile(r"(\d{1,9})\s+(-?\d{1,9})\s+(-?\d{1,9})(?:\s+([SP]))?(?:\s+(0|1|0?\.\d+|1\.0+))?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """The gold links of one sentence pair; what is sure is possible too.

    Raises:
        ValueError: a sure link is not among the possible ones.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __post_init__(self) -> None:
        if not self.sure <= self.possible:
            raise ValueError(f"sure links that are not possible: {sorted(self.sure - self.possible)}")


@dataclass(frozen=True)
class Gold:
    """The gold links of N sentence pairs in order, and what was odd about them.

    `outside` has one line for each link that was left out, with its file and line; `counts` counts these and whatever
    else is to be known before the links are used. `declared` says that the format or the caller states where places
    count from; if not, 0 is assumed.
    """

    pairs: tuple[GoldLinks, ...]
    outside: tuple[str, ...]
    counts: Counter[str]
    declared: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class _Row:
    """A link as it stands in a file: its sentence pair and its places, which count from `first` there."""

    pair: int
    link: Link
    first: int
    sure: bool
    line: int


def read_gold(path: Path, lengths: Sequence[Link], *, from_one: bool | None = None) -> Gold:
    """Read the gold links of N sentence pairs; `lengths` has each pair's two lengths in words, or UNKNOWN.

    WPT's format is `sentence source target [S|P] [confidence]`, a link a line, places from 1, sure where nothing is
    said; confidences are not used. Sentences count from 1, or from 0 where there is a 0; ids that leave gaps and are
    as many as the sentence pairs name them in the order of first appearance. Pharaoh's format is a line a pair with
    `0-0` for a sure link and `0p0` or `0?0` for a possible one, places from 0, or from 1 with `from_one` (talp).
    A link outside its sentences is left out and reported.

    Raises:
        BadInput: with file and line. Something is no link, the file is cut, lines or sentence ids do not fit N pairs,
            or places seem to count from another number. In Pharaoh's format they do if no place is 0, `from_one` is
            None, and `MANY` pairs have links or one link is outside its sentences; in WPT's if a link is `0 0`.
    """
    counts: Counter[str] = Counter()
    lines = _lines(path, counts)
    number, first = next(((number, words[0]) for number, line in lines if (words := tokens(line))), (0, ""))
    if not number:
        raise BadInput("no link in it", path)
    if _PHARAOH.fullmatch(first):
        rows = list(_pharaoh(path, lines, len(lengths), int(from_one or 0)))
        gold = _collect(path, rows, lengths, counts)
        if from_one is not None:
            return gold
        if not has_zero([row.link] for row in rows) and (gold.outside or len({row.pair for row in rows}) >= MANY):
            raise BadInput(from_where("--from"), path)
        return replace(gold, declared=False)
    return _collect(path, _wpt(path, lines, len(lengths), counts), lengths, counts)


def has_zero(pairs: Iterable[Iterable[Link]]) -> bool:
    """Whether a link of some sentence pairs has the place 0 on either side."""
    return any(0 in link for links in pairs for link in links)


def from_where(option: str) -> str:
    """What to say of links that may count from 0 or from 1; `option` begins the names of the two options."""
    return f"no place is 0: say {option}-one if places count from 1, or {option}-zero if they do count from 0"


def _lines(path: Path, counts: Counter[str]) -> list[tuple[int, str]]:
    """All lines; the last one needs no end where it says S or P, for then nothing of it lacks."""
    lines = list(read_lines(path, counts))
    match = _WPT.fullmatch(lines[-1][1])
    return lines if match and match[4] and not match[5] else list(read_lines(path, ended=True))


def _collect(path: Path, rows: Iterable[_Row], lengths: Sequence[Link], counts: Counter[str]) -> Gold:
    sure: list[set[Link]] = [set() for _ in lengths]
    possible: list[set[Link]] = [set() for _ in lengths]
    outside = []
    for row in rows:
        if is_outside(row.link, lengths[row.pair]):
            outside.append(_told(path, row, lengths[row.pair]))
            continue
        links = (sure if row.sure else possible)[row.pair]
        counts[TWICE] += row.link in links
        links.add(row.link)
    pairs = tuple(GoldLinks(frozenset(s), frozenset(s | p)) for s, p in zip(sure, possible, strict=True))
    counts["links outside their sentences"] = len(outside)
    counts["sentence pairs without a link"] = sum(not pair.possible for pair in pairs)
    return Gold(pairs, tuple(outside), +counts)


def is_outside(link: Link, lengths: Link) -> bool:
    """Whether a place of the link is none of its sentence, by the two sentences' lengths."""
    return not (0 <= link[0] < lengths[0] and 0 <= link[1] < lengths[1])


def _told(path: Path, row: _Row, lengths: Link) -> str:
    source, target = (place + row.first for place in row.link)
    reach = "" if UNKNOWN in lengths else f" of {lengths[0]} and {lengths[1]} words"
    return f"{path}:{row.line}: the link {source} {target}, counted from {row.first}, lies outside sentences{reach}"


def _pharaoh(path: Path, lines: list[tuple[int, str]], pairs: int, first: int) -> Iterator[_Row]:
    if len(lines) != pairs:
        raise BadInput(f"{len(lines):,} lines of links for {pairs:,} sentence pairs", path)
    for pair, (number, line) in enumerate(lines):
        for token in tokens(line):
            match = _PHARAOH.fullmatch(token)
            if match is None:
                raise BadInput(f"{token!r} is no link; expected one such as 0-0 (sure), 0p0 or 0?0", path, number)
            yield _Row(pair, (int(match[1]) - first, int(match[3]) - first), first, match[2] == "-", number)


def _wpt(path: Path, lines: list[tuple[int, str]], pairs: int, counts: Counter[str]) -> Iterator[_Row]:
    matches = []
    for number, line in lines:
        match = _WPT.fullmatch(line)
        if match is None:
            raise BadInput(f"{line!r} is no link; expected sentence, source, target, S or P or nothing", path, number)
        matches.append((number, match))
    places = _places(path, list(dict.fromkeys(int(match[1]) for _, match in matches)), pairs)
    for number, match in matches:
        if match[2] == match[3] == "0":
            raise BadInput("a link of the places 0 and 0; in WPT's format places count from 1", path, number)
        counts["confidences that are not used"] += match[5] is not None
        yield _Row(places[int(match[1])], (int(match[2]) - 1, int(match[3]) - 1), 1, match[4] != "P", number)


def _places(path: Path, ids: list[int], pairs: int) -> dict[int, int]:
    """The sentence pair that each id means; `ids` are in the order of first appearance."""
    first = min(1, *ids)
    if max(ids) - first < pairs:
        return {name: name - first for name in ids}
    if len(ids) == pairs:
        return {name: place for place, name in enumerate(ids)}
    raise BadInput(
        f"{len(ids):,} sentence ids, from {min(ids)} to {max(ids)}, for {pairs:,} sentence pairs: expected either "
        f"numbers of these pairs or an id for each",
        path,
    )
