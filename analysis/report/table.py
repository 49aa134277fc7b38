"""A table of text cells, as Markdown, HTML and CSV, and numbers as such cells; it knows no records."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.records.record import LinkCounts
from analysis.report.visible import visible
from analysis.statistics.intervals import Estimate

MISSING = "–"
NUMBER = r"[-+]\d[\d.,]*(e[-+]?\d+)?[\d.,±%–− ]*"
OURS, PUBLISHED, FLOOR = "ours", "published", "floor"  # whose number a row shows


@dataclass(frozen=True)
class Table:
    """Text cells under a header.

    The first `labels` columns say what a row is of, the others hold numbers; PUBLISHED among the labels marks a row as
    a paper's. `runs` are the runs that the table shows.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    runs: tuple[str, ...] = ()
    labels: int = 1

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{len(row)} cells under {len(self.header)} heads: {row}")

    @property
    def published(self) -> frozenset[int]:
        """The numbers of the rows that are a paper's."""
        return frozenset(i for i, row in enumerate(self.rows) if PUBLISHED in row[: self.labels])

    @property
    def width(self) -> int:
        """How many characters wide `markdown` is, its title and note aside."""
        return sum(self._widths(self._lines)) + 3 * len(self.header) + 1

    @property
    def _lines(self) -> list[tuple[str, ...]]:
        return [tuple(map(_in_markdown, row)) for row in (self.header, *self.rows)]

    def _widths(self, lines: list[tuple[str, ...]]) -> list[int]:
        return [max(len(row[i]) for row in lines) for i in range(len(self.header))]

    @property
    def markdown(self) -> str:
        """For a terminal or a README: columns padded to line up."""
        lines = self._lines
        widths = self._widths(lines)
        text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in lines]
        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        note = ["", self.note] if self.note else []
        return "\n".join([f"**{self.title}**", "", text[0], rule, *text[1:], *note]) + "\n"

    @property
    def html(self) -> str:
        """A table element in a box that scrolls sideways; the columns of labels are one, which stays in sight."""
        numbers = "".join(f'<th scope="col">{_text(name)}</th>' for name in self.header[self.labels :])
        body = "\n".join(
            f"<tr{' class=published' if i in self.published else ''}>{self._labels(row, 'row')}"
            + "".join(f"<td>{_text(cell)}</td>" for cell in row[self.labels :])
            + "</tr>"
            for i, row in enumerate(self.rows)
        )
        note = f"<p class=note>{_text(self.note)}</p>" if self.note else ""
        return (
            f"<div class=scroll><table><caption>{_text(self.title)}</caption>\n"
            f"<thead><tr>{self._labels(self.header, 'col')}{numbers}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></div>{note}"
        )

    def _labels(self, row: tuple[str, ...], scope: str) -> str:
        """The label of a row: the first one, and the others small below it, so that numbers have the width."""
        first, *others = row[: self.labels]
        below = f"<small>{_text(' · '.join(others))}</small>" if others else ""
        return f'<th scope="{scope}">{_text(first)}{below}</th>'

    @property
    def csv(self) -> str:
        """Comma-separated values, the header first."""
        text = io.StringIO()
        rows = (map(inert, row) for row in (self.header, *self.rows))
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def inert(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula, as a name might be; numbers stay as they are."""
    return f"'{text}" if re.match(r"[=+\-@\t\r]", text) and not re.fullmatch(NUMBER, text) else text


def _in_markdown(text: str) -> str:
    return visible(text).replace("|", r"\|").replace("\n", " ")


def _text(text: str) -> str:
    return html.escape(visible(text))


def cell(estimate: Estimate | None, over_items: bool = False) -> str:
    """A share in percent, with half of its interval over seeds, or of that `over_items` of one seed.

    The interval itself stands there where it is cut off at 0 or 100.
    """
    if estimate is None:
        return MISSING
    if estimate.half is None or (estimate.seeds < 2 and not over_items):
        return percent(estimate.mean)
    if estimate.low is not None and estimate.high is not None and not estimate.symmetric:
        return f"{percent(estimate.mean)} [{percent(estimate.low)}, {percent(estimate.high)}]"
    return f"{percent(estimate.mean)} ± {100 * estimate.half:.1f}"


def percent(share: float) -> str:
    """A share in percent, to one digit; what rounds to nothing has no sign."""
    return f"{100 * share + 0.0:.1f}".replace("-0.0", "0.0").replace("-", "−")


def listed(parts: Sequence[str]) -> str:
    """Words as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def covered(redrawn: Sequence[str]) -> str:
    """A clause on what seeds share, where `redrawn` says what each draws anew next to its model."""
    if not redrawn:
        return "seeds share the corpus, the dictionary and the test items"
    return f"each seed draws anew {listed(redrawn)}; the rest is shared"


def coverage(seeds: Sequence[int], redrawn: Sequence[str]) -> str:
    """What the intervals of a study cover."""
    if len(seeds) < 2:
        return "over test items: one seed, which says nothing of others"
    of = "of model and data" if redrawn else "of the model alone"
    return f"over {len(seeds)} seeds {of}: {covered(redrawn)}"


def over_seeds(seeds: Sequence[int], redrawn: Sequence[str] = ()) -> str:
    """What the numbers of a table are means over, and what its intervals are; `redrawn` as `Run` has it."""
    names = ", ".join(map(str, seeds))
    if len(seeds) < 2:
        return f"one seed ({names or 'none'}), no interval"
    return (
        f"{len(seeds)} seeds ({names}), mean ± half the 95 % interval over seeds, or the interval where it ends at "
        f"0 or 100; {covered(redrawn)}"
    )


def aer_table(scores: Mapping[str, LinkCounts], title: str) -> Table:
    """Error rates of word links for the terminal, in percent: one row per name, then the micro-average of several."""
    rows = dict(scores)
    if len(rows) > 1:
        rows["all (micro)"] = sum(scores.values(), LinkCounts())
    header = ("", "pairs", "AER", "precision", "recall", "F1", "links", "sure links")
    return Table(title, header, tuple((name, f"{row.pairs:,}", *link_cells(row)) for name, row in rows.items()))


def link_cells(counts: LinkCounts) -> tuple[str, ...]:
    """AER, precision, recall and F1 of links in percent, and how many links and sure gold links there are."""
    rates = (counts.aer, counts.precision, counts.recall, counts.f1)
    return *map(hundredths, rates), f"{counts.predicted:,}", f"{counts.sure:,}"


def hundredths(share: float | None) -> str:
    """A share in percent, to two digits as error rates of links are printed."""
    return MISSING if share is None else f"{100 * share:.2f}"
