"""Error rates of word links as a table, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.records.link_counts import LinkCounts
from analysis.report.table import MISSING, Table


def aer_table(scores: Mapping[str, LinkCounts], title: str) -> Table:
    """One row a name, in percent, and the micro-average below them if they are several."""
    rows = dict(scores)
    if len(rows) > 1:
        rows["all (micro)"] = sum(scores.values(), LinkCounts())
    return Table(
        title,
        ("", "pairs", "AER", "precision", "recall", "F1", "links", "sure links"),
        tuple((name, *_cells(row)) for name, row in rows.items()),
    )


def _cells(row: LinkCounts) -> tuple[str, ...]:
    measures = (row.aer, row.precision, row.recall, row.f1)
    shown = (MISSING if value is None else f"{100 * value:.2f}" for value in measures)
    return (f"{row.pairs:,}", *shown, f"{row.predicted:,}", f"{row.sure:,}")
