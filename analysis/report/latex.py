"""Write a table in LaTeX."""

import re
from collections.abc import Sequence
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
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))
PARAGRAPH = 22  # in letters; columns with longer cells wrap their text
LETTER = 0.5  # width of a letter in em
NARROW = 8  # minimum number of letters per line in a heading
PORTRAIT, HIGH = (120, 45)  # in letters and rows; wider tables are rotated, longer ones are split


def escaped(text: str) -> str:
    """Escape LaTeX's special characters."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def latex(table: Table, label: str) -> str:
    """Return a table in LaTeX with booktabs rules; its title is the caption, and its note follows it."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    widths = [max(map(len, (*column, ""))) for column in columns]
    kinds = ["r" if numeric(column) else "l" for column in columns]
    for i, width in enumerate(widths):
        if width > PARAGRAPH:
            widths[i] = max(PARAGRAPH, width // 3)
            kinds[i] = rf">{{\raggedright\arraybackslash}}p{{{widths[i] * LETTER:g}em}}"
    heads = [_head(head, width, kind) for head, width, kind in zip(table.header, widths, kinds, strict=True)]
    rotated = sum(widths) + 2 * len(widths) > PORTRAIT
    parts = [table.rows[i : i + HIGH] for i in range(0, len(table.rows), HIGH)] or [()]
    place = "sidewaystable" if rotated else "table"
    lines = ["% needs \\usepackage{array, booktabs, graphicx, rotating}"]
    for number, rows in enumerate(parts):
        lines += [rf"\begin{{{place}}}", r"\centering\footnotesize\setlength{\tabcolsep}{3pt}"]
        if number:
            lines += [r"\addtocounter{table}{-1}", rf"\caption{{{escaped(table.title)}, continued}}"]
        else:
            name = re.sub(r"[^A-Za-z0-9:._-]", "-", label)
            lines += [rf"\caption{{{escaped(table.title)}}}", rf"\label{{tab:{name}}}"]
        lines += [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"]
        lines += [rf"\begin{{tabular}}{{{''.join(kinds)}}}", r"\toprule", _row(heads), r"\midrule"]
        lines += [_row([escaped(cell) for cell in row]) for row in rows]
        lines += [r"\bottomrule", r"\end{tabular}}"]
        if table.note and number == len(parts) - 1:
            lines.append(rf"\par\smallskip\raggedright {escaped(table.note)}")
        lines.append(rf"\end{{{place}}}")
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return _guarded(" & ".join(cells)) + r" \\"


def _guarded(line: str) -> str:
    return "{}" + line if line.lstrip().startswith(("[", "*")) else line


def _head(head: str, width: int, kind: str) -> str:
    lines = wrap(head, max(width, NARROW), break_long_words=False) or [""]
    if len(lines) == 1 or len(kind) > 1:
        return escaped(head)
    return rf"\shortstack[{kind}]{{" + r" \\ ".join(map(_guarded, map(escaped, lines))) + "}"
