"""Write tables of text cells as Markdown and CSV, and format numbers for cells."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calque.analysis.records.record import LinkCounts
from calque.analysis.report.numeric import MISSING, columns
from calque.analysis.statistics.intervals import Estimate

OURS, PUBLISHED, FLOOR = "ours", "published", "floor"  # where a row's numbers come from
SIGN = "\N{REPLACEMENT CHARACTER}"  # every font contains it
_CONTROL = [*(code for code in range(0x20) if chr(code) not in "\t\n\r"), *range(0x7F, 0xA0)]
_SIGNS = dict.fromkeys([*_CONTROL, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], SIGN)


def visible(text: str) -> str:
    """Replace the characters that XML 1.0 (section 2.2), and therefore SVG and HTML, forbids with U+FFFD."""
    return text.translate(_SIGNS)


@dataclass(frozen=True)
class Table:
    """A table of text cells; its first `labels` columns label rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    labels: int = 1

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row has {len(row)} cells, expected {len(self.header)}: {row}")

    def kind(self, row: tuple[str, ...]) -> str:
        """Return where a row's numbers come from: ours, published or a floor."""
        return next((kind for kind in (PUBLISHED, FLOOR) if kind in row[: self.labels]), OURS)

    @property
    def markdown(self) -> str:
        """The title, the table and the note in Markdown, aligned for a terminal."""
        every = (self.header, *self.rows)
        rows = [[visible(cell).replace("|", r"\|").replace("\n", " ") for cell in row] for row in every]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head, *lines = ("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        note = ["", self.note] if self.note else []
        return "\n".join([f"**{self.title}**", "", head, rule, *lines, *note]) + "\n"

    @property
    def csv(self) -> str:
        """The header and the rows as comma-separated values."""
        text, data = io.StringIO(), list[tuple[str, list[str]]]()
        for i, head in enumerate(self.header):
            data += columns(head, [row[i] for row in self.rows], i < self.labels)
        rows = zip(*(cells for _, cells in data), strict=True)
        csv.writer(text, lineterminator="\n").writerows([[head for head, _ in data], *rows])
        return text.getvalue()

    @classmethod
    def of_markdown(cls, text: str) -> "Table":
        """Parse the output of `markdown`, except `labels`. Raises ValueError if the text is not a table."""
        title, _, head, _, *lines = text.removesuffix("\n").split("\n")
        rows = [line for line in lines if line.startswith("|")]
        note = "\n".join(lines[len(rows) :]).strip()
        return cls(title.removeprefix("**").removesuffix("**"), _cells(head), tuple(map(_cells, rows)), note)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1])


def cell(estimate: Estimate | None, over_items: bool = False) -> str:
    """Format a share in percent with its interval over seeds or, with `over_items`, over the test items of a
    single seed. The interval is shown as ± half its width, or as both ends if it is clipped."""
    if estimate is None:
        return MISSING
    if estimate.interval is None or (estimate.seeds < 2 and not over_items):
        return percent(estimate.mean)
    low, high = estimate.interval
    if not estimate.symmetric:
        return f"{percent(estimate.mean)} [{percent(low)}, {percent(high)}]"
    return f"{percent(estimate.mean)} ± {100 * ((high - low) / 2):.1f}"


def decimal(estimate: Estimate | None, digits: int) -> str:
    """Format a number with its interval over seeds, like `cell`."""
    if estimate is None:
        return MISSING
    text = f"{estimate.mean:.{digits}f}"
    if estimate.half is None:
        return text
    ends = f"[{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
    return f"{text} ± {estimate.half:.{digits}f}" if estimate.symmetric else f"{text} {ends}"


def percent(share: float | None) -> str:
    """Format a share in percent with one decimal."""
    return MISSING if share is None else f"{100 * share + 0.0:.1f}".replace("-0.0", "0.0").replace("-", "−")


def listed(parts: Sequence[str]) -> str:
    """Join items as in "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def covered(redrawn: Sequence[str]) -> str:
    """Return a clause on the data that seeds share; `redrawn` lists the data that differ between seeds."""
    if not redrawn:
        return "seeds share the corpus, the dictionary and the test items"
    return f"each seed draws anew {listed(redrawn)}; the rest is shared"


def coverage(seeds: Sequence[int], redrawn: Sequence[str]) -> str:
    """Return a phrase on what intervals cover."""
    if len(seeds) < 2:
        return "over the test items of one seed, not over seeds"
    of = "of model and data" if redrawn else "of the model alone"
    return f"over {len(seeds)} seeds {of}: {covered(redrawn)}"


def over_seeds(seeds: Sequence[int], redrawn: Sequence[str] = ()) -> str:
    """Return a phrase on the seeds behind a table's means and intervals."""
    names = ", ".join(map(str, seeds))
    if len(seeds) < 2:
        return f"one seed ({names or 'none'}), no interval"
    return (
        f"{len(seeds)} seeds ({names}), mean ± half the 95 % interval over seeds, or the interval where it "
        f"ends at 0 or 100; {covered(redrawn)}"
    )


def aer_table(scores: Mapping[str, LinkCounts], title: str) -> Table:
    """Tabulate AER, precision, recall and F1 for each gold set, and over all sets."""
    rows = dict(scores)
    if len(rows) > 1:
        rows["all (micro)"] = sum(scores.values(), LinkCounts())
    header = ("", "pairs", "AER", "precision", "recall", "F1", "links", "sure links")
    cells = ((name, f"{row.pairs:,}", *_link_cells(row)) for name, row in rows.items())
    return Table(title, header, tuple(cells))


def _link_cells(counts: LinkCounts) -> tuple[str, ...]:
    rates = (counts.aer, counts.precision, counts.recall, counts.f1)
    return *map(hundredths, rates), f"{counts.predicted:,}", f"{counts.sure:,}"


def hundredths(share: float | None) -> str:
    """Format a share in percent with two decimals, as is usual for AER."""
    return MISSING if share is None else f"{100 * share:.2f}"
