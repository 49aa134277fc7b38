"""A table as LaTeX."""

import re
from collections.abc import Sequence
from itertools import accumulate, groupby, product
from textwrap import wrap

from calque.analysis.report.numeric import numeric
from calque.analysis.report.table import Table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\rightarrow$",
    "Δ": r"$\Delta$",
    "ρ": r"$\rho$",
    **{character: rf"\{character}" for character in "&%$#_{}"},
}
PARAGRAPH, LINES = 22, 3  # the most letters of a line, unless a paragraph would have more lines than this
LETTER = 0.5  # em
NARROW = 8  # letters of a line in a head
PORTRAIT, LANDSCAPE = 120, 230  # letters of a row on a page, upright and rotated
GAP = 2  # letters between columns
LOW, HIGH = 56, 45  # lines of a rotated table, which is scaled down, and of an upright one
_NO_LABEL = r"[^A-Za-z0-9:._-]"
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def latex(table: Table, label: str) -> str:
    """The table with rules of the package booktabs, its title as caption, and its note below. Long cells are
    paragraphs and heads are as narrow as their columns. What a page has no room for continues in another table, which
    repeats the columns before the first numeric one."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    widths = [max(map(len, (*column, ""))) for column in columns]
    kinds = ["r" if numeric(column) else "l" for column in columns]
    labels = range(kinds.index("r") if "r" in kinds[1:] else 1)
    for i, width in enumerate(widths):
        if width > PARAGRAPH:
            widths[i] = max(PARAGRAPH, width // LINES)
            kinds[i] = rf">{{\raggedright\arraybackslash}}p{{{widths[i] * LETTER:g}em}}"
    heads = [_head(head, width, kind) for head, width, kind in zip(table.header, widths, kinds, strict=True)]
    lines = [max(1, *(-(-len(cell) // max(1, w)) for cell, w in zip(row, widths, strict=True))) for row in table.rows]
    sizes = [width + GAP for width in widths]
    rotated, named = sum(lines) <= LOW and sum(sizes) > PORTRAIT, sum(sizes[i] for i in labels)
    rows = _packed(lines, LOW if rotated else HIGH)
    others = _packed(sizes[len(labels) :], max(1, (LANDSCAPE if rotated else PORTRAIT) - named))
    float_, parts = "sidewaystable" if rotated else "table", [*product(rows, others)]
    text = ["% needs \\usepackage{array, booktabs, graphicx, rotating}"]
    for number, (some, part) in enumerate(parts):
        shown = [*labels, *(len(labels) + i for i in part)]
        text += [
            rf"\begin{{{float_}}}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            *([r"\addtocounter{table}{-1}"] if number else []),
            rf"\caption{{{escaped(table.title)}{', continued' if number else ''}}}",
            *([] if number else [rf"\label{{tab:{re.sub(_NO_LABEL, '-', label)}}}"]),
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{''.join(kinds[i] for i in shown)}}}",
            *(r"\toprule", _row([heads[i] for i in shown]), r"\midrule"),
            *(_row([escaped(table.rows[row][i]) for i in shown]) for row in some),
            *(r"\bottomrule", r"\end{tabular}}"),
            *([rf"\par\smallskip\raggedright {escaped(table.note)}"] if table.note and not parts[number + 1 :] else []),
            rf"\end{{{float_}}}",
        ]
    return "\n".join(text) + "\n"


def _packed(sizes: Sequence[int], room: int) -> list[list[int]]:
    """The indices of sizes in the fewest even groups of at most about `room` each; one empty group without sizes."""
    ends = list(accumulate(sizes))
    number = -(-ends[-1] // room) if ends else 0
    groups = groupby(range(len(sizes)), lambda i: (2 * ends[i] - sizes[i]) * number // (2 * ends[-1]))
    return [list(group) for _, group in groups] or [[]]


def _row(cells: Sequence[str]) -> str:
    return _guarded(" & ".join(cells)) + r" \\"


def _guarded(line: str) -> str:
    """A line after the end of another, where LaTeX takes a bracket or an asterisk for an option of that end."""
    return "{}" + line if line.lstrip().startswith(("[", "*")) else line


def _head(head: str, width: int, kind: str) -> str:
    """The head of a column, in lines of about the column's width unless it is a paragraph."""
    lines = wrap(head, max(width, NARROW), break_long_words=False) or [""]
    if len(lines) == 1 or len(kind) > 1:
        return escaped(head)
    return rf"\shortstack[{kind}]{{" + r" \\ ".join(map(_guarded, map(escaped, lines))) + "}"
