"""A table as HTML, which a reader sorts and downloads."""

from urllib.parse import quote

from calque.analysis.report.latex import latex
from calque.analysis.report.markup import text
from calque.analysis.report.numeric import MISSING, numeric
from calque.analysis.report.table import FLOOR, OURS, PUBLISHED, Table

WIDE = 8  # tables with at least this many columns are printed in landscape
_SAFE = " /:,;!$()*+=?@[]{}|^~\\"  # characters that a quoted data URL keeps


def table_html(table: Table, name: str, whole: bool = True) -> str:
    """A table with its title, its note and links to its data; `name` names its files."""
    numbers = range(table.labels, len(table.header))
    classes = ["" if numeric([row[i] for row in table.rows]) else " class=words" for i in numbers]
    head = _row(table, table.header, classes, "col")
    rows = "\n".join(f"<tr data-kind={kind(table, row)}>{_row(table, row, classes, 'row')}</tr>" for row in table.rows)
    title = f'<h3 id="data-{text(name)}">{text(table.title)}</h3>\n' if whole else ""
    note = f"<p class=note>{text(table.note)}</p>" if table.note and whole else ""
    shape = "wide" if len(numbers) >= WIDE else "narrow"
    return (
        f'<div class="data {shape}">{title}<div class=tools>{_links(table, name)}</div>\n'
        f'<div class=scroll tabindex=0 role=region aria-label="{text(table.title)}">'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{note}</div>"
    )


def kind(table: Table, row: tuple[str, ...]) -> str:
    """The origin of a row's numbers."""
    return next((each for each in (PUBLISHED, FLOOR) if each in row[: table.labels]), OURS)


def _row(table: Table, row: tuple[str, ...], classes: list[str], scope: str) -> str:
    first, *others = row[: table.labels]
    below = f" <small>{text(' · '.join(other for other in others if other != MISSING))}</small>" if others else ""
    tag = 'th scope="col"' if scope == "col" else "td"
    cells = (f"<{tag}{its}>{text(cell)}</{tag[:2]}>" for cell, its in zip(row[table.labels :], classes, strict=True))
    return f'<th scope="{scope}">{text(first)}{below}</th>{"".join(cells)}'


def _links(table: Table, name: str) -> str:
    files = (("CSV", "csv", "text/csv", table.csv), ("LaTeX", "tex", "text/x-tex", latex(table, name)))
    links = (
        f'<a download="{text(name)}.{end}" href="data:{media};charset=utf-8,{quote(data, safe=_SAFE)}" '
        f'aria-label="{label} of {text(table.title)}">{label}</a>'
        for label, end, media, data in files
    )
    return f"<span class=files>{' '.join(links)}</span>"
