"""A table as LaTeX."""

import re
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
LANDSCAPE = 120  # letters of a row that is rotated
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def latex(table: Table, label: str) -> str:
    """The table with rules of the package booktabs, its title as caption, and its note below. Long cells are
    paragraphs, heads are as narrow as their columns, and a table that is still too wide is rotated or scaled down."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    widths = [max(map(len, (*column, "")), default=0) for column in columns]
    kinds = ["r" if numeric(column) else "l" for column in columns]
    for i, width in enumerate(widths):
        if width > PARAGRAPH:
            widths[i] = max(PARAGRAPH, width // LINES)
            kinds[i] = rf">{{\raggedright\arraybackslash}}p{{{widths[i] * LETTER:g}em}}"
    heads = [_head(head, width, kind) for head, width, kind in zip(table.header, widths, kinds, strict=True)]
    rows = (" & ".join(row) + r" \\" for row in (heads, *(map(escaped, row) for row in table.rows)))
    float_ = "sidewaystable" if sum(widths) > LANDSCAPE else "table"
    lines = [
        "% needs \\usepackage{array, booktabs, graphicx, rotating}",
        rf"\begin{{{float_}}}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(table.title)}}}",
        rf"\label{{tab:{label}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{''.join(kinds)}}}",
        *(r"\toprule", next(rows), r"\midrule", *rows, r"\bottomrule"),
        r"\end{tabular}}",
        *([rf"\par\smallskip\raggedright {escaped(table.note)}"] if table.note else []),
        rf"\end{{{float_}}}",
    ]
    return "\n".join(lines) + "\n"


def _head(head: str, width: int, kind: str) -> str:
    """The head of a column, in lines of about the column's width unless it is a paragraph."""
    lines = wrap(head, max(width, NARROW), break_long_words=False) or [""]
    if len(lines) == 1 or len(kind) > 1:
        return escaped(head)
    return rf"\shortstack[{kind}]{{" + r" \\ ".join(map(escaped, lines)) + "}"
