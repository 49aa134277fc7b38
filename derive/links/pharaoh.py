"""Links in Pharaoh's format: a line a sentence pair, `0-0 1-2`, places from 0; with scores, `0-0:0.98 1-2:0.41`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from derive.errors import BadInput
from derive.files import whole_file
from derive.links.aligner import Links, Pair
from derive.readers.lines import read_lines, tokens

Scored = Mapping[tuple[int, int], float]
"""The links of a sentence pair, sorted, and the score of each."""
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?::(\S+))?")


def line_of(links: Iterable[tuple[int, int]] | Scored) -> str:
    """A pair's links as a line, without its end; those of a mapping have their scores, to six digits."""
    if isinstance(links, Mapping):
        return " ".join(f"{i}-{j}:{score:.6g}" for (i, j), score in sorted(links.items()))
    return " ".join(f"{i}-{j}" for i, j in links)


def write_links(path: Path, pairs: Iterable[Links] | Iterable[Scored]) -> None:
    """Write the links of sentence pairs, whole or not at all."""
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line_of(links) + "\n" for links in pairs)


def read_links(path: Path) -> Iterator[Links]:
    """Stream the links of sentence pairs, each sorted; an empty line is a pair without links. Scores are left out.

    Raises:
        BadInput: with the line; something is no link, or the file is missing, empty or cut.
    """
    return (sorted(links) for links in read_scored(path))


def read_scored(path: Path) -> Iterator[dict[tuple[int, int], float]]:
    """As `read_links`, with each link's score; a link without one has 1.

    Raises:
        BadInput: as `read_links`, and a score that is no finite number.
    """
    for number, line in read_lines(path, ended=True):
        try:
            yield dict(sorted(map(_parse, tokens(line))))
        except ValueError as error:
            raise BadInput(str(error), path, number) from None


def linked(pairs: Iterable[Pair], path: Path) -> Iterator[tuple[Pair, dict[tuple[int, int], float]]]:
    """Sentence pairs with the links that a file has for them, line by line.

    Raises:
        BadInput: as `read_scored`, a link that lies outside its sentences, or another number of lines.
    """
    lines = read_scored(path)
    number = 0
    for number, pair in enumerate(pairs, start=1):
        links = next(lines, None)
        if links is None:
            raise BadInput(f"ends before line {number:,}, where there is a sentence pair", path)
        n, m = map(len, pair)
        if outside := [f"{i}-{j}" for i, j in links if i >= n or j >= m]:
            raise BadInput(f"{outside[0]} lies outside sentences of {n} and {m} words", path, number)
        yield pair, links
    if next(lines, None) is not None:
        raise BadInput(f"more lines of links than the {number:,} sentence pairs", path)


def _parse(text: str) -> tuple[tuple[int, int], float]:
    matched = _LINK.fullmatch(text)
    if not matched:
        raise ValueError(f"{text!r} is no link; expected places as in 0-2, or with a score as in 0-2:0.9")
    i, j, score = matched.groups(default="1")
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} has a score that is no finite number")
    return (int(i), int(j)), value
