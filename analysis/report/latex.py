"""A table as LaTeX."""

import re

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
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def latex(table: Table, label: str) -> str:
    """The table with rules of the package booktabs, its title as caption, and its note below."""
    aligned = ["r" if numeric([row[i] for row in table.rows]) else "l" for i in range(len(table.header))]
    head, *rows = (" & ".join(map(escaped, row)) + r" \\" for row in (table.header, *table.rows))
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.title)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{''.join(aligned)}}}",
        *(r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
        r"\end{tabular}",
        *([rf"\par\smallskip {escaped(table.note)}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
