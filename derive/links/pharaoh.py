"""Links in Pharaoh's format: a line a sentence pair, `0-0 1-2`, places from 0; with scores, `0-0:0.98 1-2:0.41`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from derive.errors import BadInput
from derive.files import whole_file
from derive.links.aligner import Links, Pair
from derive.readers.gold import MANY, TWICE, Link, from_where, has_zero, is_outside
from derive.readers.lines import parse_number, read_lines, tokens

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


def read_links(path: Path, counts: Counter[str] | None = None, *, from_one: bool | None = False) -> Iterator[Links]:
    """Stream the links of sentence pairs, each sorted; an empty line is a pair without links. Scores are left out.
    `counts` has what `read_lines` removed.

    Places count from 0, or from 1 with `from_one`. If that is None, 0 is assumed unless the file looks otherwise.

    Raises:
        BadInput: with the line; something is not a link, or the file is missing, empty or cut. With `from_one` None, no
            place is 0 in a file that has links of `MANY` pairs.
    """
    return (sorted(links) for links in read_scored(path, counts, from_one=from_one))


def read_scored(
    path: Path, counts: Counter[str] | None = None, *, from_one: bool | None = False
) -> Iterator[dict[tuple[int, int], float]]:
    """As `read_links`, with each link's score; a link without one has 1.

    Raises:
        BadInput: as `read_links`, and a score that is no finite number.
    """
    if from_one is None:
        with_links = list(islice(filter(None, read_scored(path)), MANY))
        if len(with_links) == MANY and not has_zero(read_scored(path)):
            raise BadInput(from_where("--links-from"), path)
    for number, line in read_lines(path, counts, ended=True):
        try:
            links = sorted(_parse(text, int(from_one or 0)) for text in tokens(line))
        except ValueError as error:
            raise BadInput(str(error), path, number) from None
        made = dict(links)
        if counts is not None and len(made) < len(links):
            counts[TWICE] += len(links) - len(made)
        yield made


def check_inside(links: Iterable[Link], lengths: Link, path: Path, line: int, from_one: bool | None) -> None:
    """Refuse links that are outside their sentences of these lengths.

    Raises:
        BadInput: naming the first; if `from_one` is None, also how to say that places count from 1.
    """
    for link in links:
        if is_outside(link, lengths):
            place = "-".join(str(i + int(from_one or 0)) for i in link)
            hint = "" if from_one is not None else "; say --links-from-one if places count from 1"
            n, m = lengths
            raise BadInput(f"{place} lies outside sentences of {n} and {m} words{hint}", path, line)


def linked(
    pairs: Iterable[Pair], path: Path, counts: Counter[str] | None = None, *, from_one: bool | None = False
) -> Iterator[tuple[Pair, dict[tuple[int, int], float]]]:
    """Sentence pairs with the links that a file has for them, line by line.

    Raises:
        BadInput: as `read_scored`, a link that lies outside its sentences, or another number of lines.
    """
    lines = read_scored(path, counts, from_one=from_one)
    number = 0
    for number, pair in enumerate(pairs, start=1):
        links = next(lines, None)
        if links is None:
            raise BadInput(f"ends before line {number:,}, where there is a sentence pair", path)
        check_inside(links, (len(pair[0]), len(pair[1])), path, number, from_one)
        yield pair, links
    if next(lines, None) is not None:
        raise BadInput(f"more lines of links than the {number:,} sentence pairs", path)


def _parse(text: str, first: int) -> tuple[tuple[int, int], float]:
    matched = _LINK.fullmatch(text)
    if not matched:
        raise ValueError(f"{text!r} is no link; expected places as in 0-2, or with a score as in 0-2:0.9")
    i, j, score = matched.groups(default="1")
    try:
        value = parse_number(score)
    except ValueError:
        raise ValueError(f"{text!r} has a score that is not a finite number") from None
    link = int(i) - first, int(j) - first
    if min(link) < 0:
        raise ValueError(f"{text!r} has the place 0, where places count from 1")
    return link, value
