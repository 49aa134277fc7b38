"""A table as HTML, which a reader sorts, filters and downloads."""

import re
from collections.abc import Iterator
from urllib.parse import quote

from calque.analysis.report.latex import latex
from calque.analysis.report.markup import details, items, text
from calque.analysis.report.numeric import BEST, MISSING, best, numeric
from calque.analysis.report.table import FLOOR, OURS, PUBLISHED, Table

COMPARED = ("objective", "model")  # heads of the label that tells rows of a block apart
LOWER = re.compile(r"Δ|\bAER\b|error|\bloss\b|lower is better")
HIGHER = re.compile(
    r"SUP|ZS|F1|accuracy|exact match|alignment@1|retained|cosine, layer|CSLS|retrieval|zero-shot|average"
)
RULE = f"Bold, by column, among our rows with the same other labels: {BEST}."
WIDE = 8  # tables with at least this many columns are printed in landscape


def table_html(table: Table, name: str, whole: bool = True) -> str:
    """A table with its title, its note and links to its data; `name` names its files. The columns of labels are one,
    which stays in sight. Without `whole`, it has no title and its note is left out."""
    marked = best_cells(table) if whole else set()
    words = {i for i in range(table.labels, len(table.header)) if not numeric([row[i] for row in table.rows])}
    heads = "".join(
        f'<th scope="col"{_class(i in words, "words")}>{text(table.header[i])}</th>'
        for i in range(table.labels, len(table.header))
    )
    rows = "\n".join(_row(table, i, marked, words) for i in range(len(table.rows)))
    title = f'<h3 id="data-{text(name)}">{text(table.title)}</h3>\n' if whole else ""
    notes = [table.note] if table.note and whole else []
    notes += [RULE] if marked else []
    shape = "wide" if len(table.header) - table.labels >= WIDE else "narrow"
    return (
        f'<div class="data {shape}">{title}<div class=tools>{_links(table, name)}</div>\n'
        f'<div class=scroll tabindex=0 role=region aria-label="{text(table.title)}">'
        f"<table>\n<thead><tr>{_labels(table, table.header, 'col')}{heads}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table></div>{''.join(f'<p class=note>{text(note)}</p>' for note in notes)}</div>"
    )


def runs_shown(runs: tuple[str, ...], of: int) -> str:
    """The runs that a table or a figure shows, unless it shows all of a study."""
    return details(f"The {len(runs)} runs shown", items(runs)) if runs and len(runs) < of else ""


def kind(table: Table, row: int) -> str:
    """The origin of a row's numbers."""
    labels = table.rows[row][: table.labels]
    return next((each for each in (PUBLISHED, FLOOR) if each in labels), OURS)


def best_cells(table: Table) -> set[tuple[int, int]]:
    """The row and column of each of our numbers that is the best of its column and block."""
    marked = set()
    for column in range(table.labels, len(table.header)):
        for rows in _blocks(table) if (sign := direction(table, column)) else ():
            marked |= {(row, column) for row in best({row: table.rows[row][column] for row in rows}, sign)}
    return marked


def direction(table: Table, column: int) -> int:
    """1 if more is better in a column, -1 if less is, 0 if neither is known, by its head or else by the title."""
    for words in (table.header[column], re.split(r"[,;]", table.title)[0]):
        if LOWER.search(words):
            return -1
        if HIGHER.search(words):
            return 1
    return 0


def _blocks(table: Table) -> Iterator[list[int]]:
    """Our rows that differ in nothing but the objective or the model."""
    compared = _compared(table)
    blocks: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(table.rows):
        if kind(table, i) == OURS:
            others = tuple(label for place, label in enumerate(row[: table.labels]) if place != compared)
            blocks.setdefault(others, []).append(i)
    yield from blocks.values()


def _compared(table: Table) -> int:
    """The column of labels that tells rows of a block apart."""
    return next((i for i, head in enumerate(table.header[: table.labels]) if head in COMPARED), 0)


def _row(table: Table, row: int, marked: set[tuple[int, int]], words: set[int]) -> str:
    cells = "".join(
        f"<td{_class((row, column) in marked, 'best') or _class(column in words, 'words')}>"
        f"{text(table.rows[row][column])}</td>"
        for column in range(table.labels, len(table.header))
    )
    return f"<tr data-kind={kind(table, row)}>{_labels(table, table.rows[row], 'row')}{cells}</tr>"


def _class(applies: bool, name: str) -> str:
    return f" class={name}" if applies else ""


def _labels(table: Table, row: tuple[str, ...], scope: str) -> str:
    """The label of a row: the compared label, and the others in small type below it, which leaves room for numbers."""
    first = row[_compared(table)]
    others = [label for i, label in enumerate(row[: table.labels]) if i != _compared(table)]
    below = f" <small>{text(' · '.join(other for other in others if other != MISSING))}</small>" if others else ""
    return f'<th scope="{scope}">{text(first)}{below}</th>'


def _links(table: Table, name: str) -> str:
    """Links to the table's data, which are in the links."""
    files = (("CSV", "csv", "text/csv", table.csv), ("LaTeX", "tex", "text/x-tex", latex(table, name)))
    links = (
        f'<a download="{text(name)}.{end}" href="data:{media};charset=utf-8,{quote(data, safe=_SAFE)}" '
        f'aria-label="{label} of {text(table.title)}">{label}</a>'
        for label, end, media, data in files
    )
    return f"<span class=files>{' '.join(links)}</span>"


_SAFE = " /:,;!$()*+=?@[]{}|^~\\"  # characters that a quoted data URL keeps
