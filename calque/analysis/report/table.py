"""Format numbers as cells, and write tables of text cells as Markdown and LaTeX."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calque.analysis.records.aer import LinkCounts
from calque.analysis.statistics import Estimate

MISSING = "–"
OURS, PUBLISHED, FLOOR = "ours", "published", "floor"  # where a row's numbers come from
SIGN = "\N{REPLACEMENT CHARACTER}"  # every font contains it
_CONTROL = [*(code for code in range(0x20) if chr(code) not in "\t\n\r"), *range(0x7F, 0xA0)]
_SIGNS = dict.fromkeys([*_CONTROL, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], SIGN)


def visible(text: str) -> str:
    """Replace characters forbidden in XML 1.0 (section 2.2), and so in SVG and HTML, with U+FFFD."""
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
        """Return the source of a row's numbers: ours, published or a floor."""
        return next((kind for kind in (PUBLISHED, FLOOR) if kind in row[: self.labels]), OURS)

    @property
    def columns(self) -> list[tuple[str, ...]]:
        return list(zip(*self.rows, strict=True)) or [()] * len(self.header)

    @property
    def markdown(self) -> str:
        """The title, table and note in Markdown, aligned for a terminal."""
        table_rows = (self.header, *self.rows)
        rows = [[visible(cell).replace("|", r"\|").replace("\n", " ") for cell in row] for row in table_rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head, *lines = ("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        note = ["", self.note] if self.note else []
        return "\n".join([f"**{self.title}**", "", head, rule, *lines, *note]) + "\n"

    def save(self, folder: Path, name: str, label: str = "") -> None:
        """Write `name`.md and `name`.tex; LaTeX's label is `label` (default: `name`)."""
        for kind, text in (("md", self.markdown), ("tex", latex(self, label or name))):
            (folder / f"{name}.{kind}").write_text(text, encoding="utf-8", newline="\n")


# Cells


def percent(share: float | None) -> str:
    """Format a share in percent with one decimal."""
    return MISSING if share is None else f"{100 * share + 0.0:.1f}".replace("-0.0", "0.0").replace("-", "−")


def cell(estimate: Estimate | None, over_items: bool = False) -> str:
    """Format a share in percent with its interval over seeds (or one seed's items): ±, or ends if clipped."""
    if estimate is None:
        return MISSING
    if estimate.interval is None or (estimate.seeds < 2 and not over_items):
        return percent(estimate.mean)
    low, high = estimate.interval
    if not estimate.symmetric:
        return f"{percent(estimate.mean)} [{percent(low)}, {percent(high)}]"
    return f"{percent(estimate.mean)} ± {percent((high - low) / 2)}"


def listed(parts: Sequence[str]) -> str:
    """Join items as in "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def covered(redrawn: Sequence[str]) -> str:
    """Return a clause about the data that seeds share or, if `redrawn`, draw anew."""
    if not redrawn:
        return "seeds share the corpus, the dictionary and the test items"
    return f"each seed draws anew {listed(redrawn)}; the rest is shared"


def over_seeds(seeds: Sequence[int], redrawn: Sequence[str] = ()) -> str:
    """Return a phrase about the seeds behind a table's means and intervals."""
    names = ", ".join(map(str, seeds)) or "none"
    if len(seeds) < 2:
        return f"one seed ({names}), no interval"
    return (
        f"{len(seeds)} seeds ({names}), mean ± half the 95 % interval over seeds, or the interval where it "
        f"ends at 0 or 100; {covered(redrawn)}"
    )


def aer_table(scores: Mapping[str, LinkCounts], title: str) -> Table:
    """Tabulate AER, precision, recall and F1 for each gold set, and over all sets."""
    overall = {"all (micro)": sum(scores.values(), LinkCounts())} if len(scores) > 1 else {}
    rows = []
    for name, counts in {**scores, **overall}.items():
        rates = (MISSING if rate is None else f"{100 * rate:.2f}" for rate in counts.rates)
        rows.append((name, f"{counts.pairs:,}", *rates, f"{counts.predicted:,}", f"{counts.sure:,}"))
    header = ("", "pairs", "AER", "precision", "recall", "F1", "links", "sure links")
    return Table(title, header, tuple(rows))


_NUMBER = r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
_CELL = re.compile(rf"(?:< )?{_NUMBER}(?:[ ,;].*)?|– / .+")  # such as `34.6 ± 2.1` and `– / 38.5`


def numeric(cells: Sequence[str]) -> bool:
    """Whether any cell in a column starts with a number."""
    return any(map(_CELL.fullmatch, cells))


# LaTeX

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}
_MATHS = {"±": "pm", "×": "times", "≥": "geq", "≤": "leq", "→": "rightarrow", "Δ": "Delta", "ρ": "rho"}
_ESCAPES |= {"−": "$-$", **{sign: rf"$\{name}$" for sign, name in _MATHS.items()}}
PARAGRAPH = 22  # in letters; columns with longer cells wrap their text
LETTER = 0.55  # width of a letter in em
# Wider and higher tables are scaled to the line and to three quarters of the page.
_FIT = r"""\resizebox*{!}{\ifdim\totalheight>.75\textheight .75\textheight\else\totalheight\fi}{%
\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"""


def escaped(text: str) -> str:
    """Escape LaTeX's special characters."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def latex(table: Table, label: str) -> str:
    """Return a table in LaTeX, scaled to fit the page; its title is the caption."""
    kinds, name = map(_kind, table.header, table.columns), re.sub(r"[^A-Za-z0-9:._-]", "-", label)
    lines = [
        r"% needs \usepackage{array, booktabs, graphicx}",
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(table.title)}}}",
        rf"\label{{tab:{name}}}",
        _FIT,
        rf"\begin{{tabular}}{{{''.join(kinds)}}}",
        r"\toprule",
        _row(table.header),
        r"\midrule",
        *map(_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}}}",
        *([rf"\par\smallskip\raggedright {escaped(table.note)}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _kind(head: str, column: Sequence[str]) -> str:
    width, side = max(map(len, (*head.split(), *column, ""))), "left" if numeric(column) else "right"
    if width > PARAGRAPH:
        width = max(PARAGRAPH, width // 3)
    elif side == "right":
        return "l"
    return rf">{{\ragged{side}\arraybackslash}}p{{{width * LETTER:g}em}}"


def _row(cells: Sequence[str]) -> str:
    """Return a row in LaTeX, protected from being read as an option of the preceding command."""
    row = " & ".join(map(escaped, cells))
    return ("{}" if row.lstrip().startswith(("[", "*")) else "") + rf"{row} \\"
