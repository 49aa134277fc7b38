"""Predicted word links counted against gold ones: alignment error rate, precision, recall, F1 (Och and Ney 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.records.record import LinkCounts
from derive.readers.gold import GoldLinks, Link


def score(gold: GoldLinks, links: Iterable[Link]) -> LinkCounts:
    """The counts of one sentence pair; a link that is predicted twice counts once."""
    predicted = frozenset(links)
    return LinkCounts(1, len(predicted), len(gold.sure), len(predicted & gold.sure), len(predicted & gold.possible))


def score_all(gold: Iterable[GoldLinks], links: Iterable[Iterable[Link]]) -> LinkCounts:
    """The counts of a corpus: the sum over its sentence pairs, which may stream.

    Raises:
        ValueError: the two do not have the same number of sentence pairs.
    """
    return sum((score(*pair) for pair in zip(gold, links, strict=True)), LinkCounts())


def score_each(gold: Iterable[GoldLinks], links: Iterable[Sequence[Iterable[Link]]], aligners: int) -> list[LinkCounts]:
    """The counts of several aligners over a corpus; `links` has, for each sentence pair, those of every aligner.

    Raises:
        ValueError: the two do not have the same number of sentence pairs, or a pair not the links of every aligner.
    """
    totals = [LinkCounts()] * aligners
    for known, rows in zip(gold, links, strict=True):
        totals = [total + score(known, row) for total, row in zip(totals, rows, strict=True)]
    return totals
