"""Training sets of two languages in one, after PPA (Pan et al. 2021, section 3): translations, and pairs of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from analysis.tasks.rows import Reader, Row
from analysis.tasks.score import Answer
from analysis.tasks.split import Encoded, Split
from derive.errors import BadInput
from derive.example import Example


def together(*sets: Encoded) -> Encoded:
    """Several sets as one; what stands together in a set stays together."""
    units: list[np.ndarray] = []
    behind = 0
    for encoded in sets:
        units.append(encoded.unit_of + behind)
        behind += len(encoded)
    return Encoded(
        tuple(row for encoded in sets for row in encoded.rows),
        np.concatenate([encoded.counts for encoded in sets]),
        sum(encoded.cut for encoded in sets),
        np.concatenate(units),
    )


def switched(
    first: Split, second: Split, labels: Sequence[str], readers: tuple[Reader, Reader], length: int
) -> Encoded:
    """Of every example and its translation the two pairs that have a text of each language.

    The first text is in the one language, and what follows in the other, which has the answer where that is a span. The
    two pairs of an example stand together, as they do in the paper's batches.

    Raises:
        BadInput: the sets are not translations of each other, line by line; as `Split.encode`.
    """
    rows: list[Row] = []
    counts: list[int] = []
    units: list[int] = []
    cut = 0
    one, two = readers
    ways = (replace(one, second=two), replace(two, second=one))
    for line, pair in enumerate(_pairs(first, second), start=1):
        for (asked, other), reader in zip((pair, pair[::-1]), ways, strict=True):
            example = replace(other, texts=(asked.texts[0], *other.texts[1:]))
            try:
                made, whole = first.task.rows(example, first.task.gold(example), labels, reader, length)
            except ValueError as error:
                raise BadInput(str(error), second.path, line) from None
            rows += made
            counts.append(len(made))
            units += [line - 1] * len(made)
            cut += not whole
    return Encoded(tuple(rows), np.array(counts), cut, np.array(units))


def check_translations(first: Split, second: Split) -> None:
    """Find that the lines of two sets do not say the same, before anything is trained.

    Raises:
        BadInput: with file and line.
    """
    for _ in _pairs(first, second):
        pass


def _pairs(first: Split, second: Split) -> Iterator[tuple[Example, Example]]:
    """Each example with its translation."""
    for line, (one, two) in enumerate(zip_longest(first, second), start=1):
        if one is None or two is None:
            longer, shorter = (first, second) if two is None else (second, first)
            raise BadInput(f"ends before line {line:,}; expected a translation of {longer.path}", shorter.path)
        if why := _apart(one, two):
            raise BadInput(f"expected the translation of line {line} of {first.path}: {why}", second.path, line)
        yield one[0], two[0]


def _apart(one: tuple[Example, Answer], two: tuple[Example, Answer]) -> str:
    """Why an example is no translation of another, as far as can be seen."""
    (a, _), (b, _) = one, two
    if a.label != b.label:
        return f"its label is {b.label!r}, not {a.label!r}"
    if a.id != b.id:
        return f"its id is {b.id!r}, not {a.id!r}"
    if len(a.texts) != len(b.texts):
        return f"it has {len(b.texts)} texts, not {len(a.texts)}"
    return ""
