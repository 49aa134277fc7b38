"""A table of text cells, as Markdown, HTML and CSV; it knows no records."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass

from analysis.statistics.intervals import Estimate

MISSING = "–"
OURS, PUBLISHED = "ours", "published"
"""Whose number a row shows."""


@dataclass(frozen=True)
class Table:
    """Text cells under a header; `published` are the numbers of the rows that are a paper's.

    `runs` are the runs that the table shows.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    published: frozenset[int] = frozenset()
    runs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{len(row)} cells under {len(self.header)} heads: {row}")

    @property
    def markdown(self) -> str:
        """For a terminal or a README: columns padded to line up."""
        lines = [self.header, *self.rows]
        wide = [max(len(row[i]) for row in lines) for i in range(len(self.header))]
        text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)) + " |" for row in lines]
        rule = "|" + "|".join("-" * (w + 2) for w in wide) + "|"
        return (
            "\n".join([f"**{self.title}**", "", text[0], rule, *text[1:], *(["", self.note] if self.note else [])])
            + "\n"
        )

    @property
    def html(self) -> str:
        """A table element in a box that scrolls sideways on a narrow screen."""
        head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in self.header)
        body = "\n".join(
            f"<tr{' class=published' if i in self.published else ''}>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            + "</tr>"
            for i, row in enumerate(self.rows)
        )
        note = f"<p class=note>{html.escape(self.note)}</p>" if self.note else ""
        return (
            f"<div class=scroll><table><caption>{html.escape(self.title)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{note}"
        )

    @property
    def csv(self) -> str:
        """Comma-separated values, the header first."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        return text.getvalue()


def cell(estimate: Estimate | None) -> str:
    """A share in percent, with the half-width of the interval over seeds where there are several."""
    if estimate is None:
        return MISSING
    if estimate.half is None or estimate.seeds < 2:
        return percent(estimate.mean)
    return f"{percent(estimate.mean)} ± {100 * estimate.half:.1f}"


def percent(share: float) -> str:
    """A share in percent, to one digit; what rounds to nothing has no sign."""
    return f"{100 * share + 0.0:.1f}".replace("-0.0", "0.0").replace("-", "−")
