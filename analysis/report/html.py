"""Write text, tables, figures and colours in HTML."""

import json
import re
from collections.abc import Sequence
from dataclasses import astuple
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
from matplotlib.colors import to_hex

from calque.analysis.report.drawing import STYLE, Mark, marks_of
from calque.analysis.report.latex import latex
from calque.analysis.report.numeric import MISSING, numeric
from calque.analysis.report.plot import Plot, svg_of
from calque.analysis.report.table import OURS, PUBLISHED, Table, visible

GREY = 38  # a colour is treated as grey if its channels differ by less than this


def text(words: str) -> str:
    """Escape text for use in an element or a quoted attribute."""
    return escape(visible(words))


def script_json(data: Any) -> str:
    """Return JSON that is safe inside a script element."""
    encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return encoded.replace("<", "\\u003c")


def items(words: Sequence[str], kind: str = "items") -> str:
    """Return a list, or "" if there are no items."""
    parts = "".join(f"<li>{text(item)}</li>" for item in words)
    return f"<ul class={kind}>{parts}</ul>" if parts else ""


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a list of terms with their definitions, or "" if there are none."""
    parts = "".join(f"<dt>{text(term)}</dt><dd>{text(meaning)}</dd>" for term, meaning in pairs)
    return f"<dl>{parts}</dl>" if parts else ""


def details(summary: str, body: str) -> str:
    """Return a section that opens when its summary is clicked."""
    return f"<details><summary>{text(summary)}</summary>{body}</details>"


def scroll(label: str, body: str, classes: str = "scroll") -> str:
    """Return a labelled region that scrolls if its content is wider than the page."""
    return f'<div class="{classes}" tabindex=0 role=region aria-label="{text(label)}">{body}</div>'


@cache
def themed(colour: str) -> str:
    """Return CSS for a colour in light and dark mode; dark mode inverts greys and lightens other colours."""
    shown = to_hex(colour)
    parts = [int(shown[i : i + 2], 16) for i in (1, 3, 5)]
    dark = f"color-mix(in srgb, {shown}, white 30%)"
    if shown == "#ffffff":
        dark = "var(--paper)"
    elif max(parts) - min(parts) < GREY:
        dark = "#" + "".join(f"{255 - part:02x}" for part in parts)
    return f"light-dark({shown},{dark})"


WIDE = 8  # tables with at least this many columns are printed in landscape
_SAFE = " /:,;!$()*+=?@[]{}|^~\\"  # characters that need no quoting in a data URL


def table_html(table: Table, name: str, whole: bool = True) -> str:
    """Return a table with links to its data as CSV and LaTeX files called `name`; if it is `whole`, include
    its title and note."""
    numbers, hidden = range(table.labels, len(table.header)), _outside(table)
    classes = ["" if numeric([row[i] for row in table.rows]) else " class=words" for i in numbers]
    head = _row(table, table.header, classes, "col")
    rows = "\n".join(
        f"<tr data-kind={table.kind(row)}>{_row(table, row, classes, 'row')}</tr>"
        for row in table.rows
        if row not in hidden
    )
    title = f'<h3 id="data-{text(name)}">{text(table.title)}</h3>\n' if whole else ""
    more = f"The CSV has {len(hidden)} more published rows, from outside this study." if hidden else ""
    notes = " ".join(filter(None, (table.note, more)))
    note = f"<p class=note>{text(notes)}</p>" if notes and whole else ""
    shape = "wide" if len(numbers) >= WIDE else "narrow"
    body = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    return (
        f'<div class="data {shape}">{title}<div class=tools>{_links(table, name)}</div>\n'
        f"{scroll(table.title, body)}{note}</div>"
    )


def _outside(table: Table) -> list[tuple[str, ...]]:
    """Return the published rows for settings that the study lacks, unless it lacks all of them."""
    published = {row: _setting(row[: table.labels]) for row in table.rows if table.kind(row) == PUBLISHED}
    ours = {_setting(row[: table.labels]) for row in table.rows if table.kind(row) == OURS}
    outside = [row for row, setting in published.items() if setting not in ours]
    return outside if len(outside) < len(published) else []


def _setting(labels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label for label in labels if label not in (OURS, PUBLISHED))


def _row(table: Table, row: tuple[str, ...], classes: list[str], scope: str) -> str:
    first, *others = row[: table.labels]
    below = text(" · ".join(other for other in others if other != MISSING))
    below = f" <small>{below}</small>" if others else ""
    cells = []
    for title, cell, its in zip(table.header[table.labels :], row[table.labels :], classes, strict=True):
        if scope == "col":
            cells.append(f'<th scope="col"{its}>{text(cell)}</th>')
        else:  # narrow screens show the column's title next to each number
            titled = "" if cell == MISSING else f' data-title="{text(title)}"'
            cells.append(f"<td{its}{titled}>{text(cell)}</td>")
    return f'<th scope="{scope}">{text(first)}{below}</th>{"".join(cells)}'


def _links(table: Table, name: str) -> str:
    files = (("CSV", "csv", "text/csv", table.csv), ("LaTeX", "tex", "text/x-tex", latex(table, name)))
    links = (
        f'<a download="{text(name)}.{end}" href="data:{media};charset=utf-8,{quote(data, safe=_SAFE)}" '
        f'aria-label="{label} of {text(table.title)}">{label}</a>'
        for label, end, media, data in files
    )
    return f"<span class=files>{' '.join(links)}</span>"


PIXELS = 96 / 72  # CSS pixels per point
SMALLEST, LARGEST = 0.8, 1.4  # limits on the scale of a figure, which scrolls on narrower screens
REACH = 5  # radius in points of the area where a pointer activates a mark


def figure_html(plot: Plot) -> str:
    """Return a plot with its title, its caption, and a table of the numbers drawn."""
    drawn = svg_of(plot.figure)
    with mpl.rc_context(STYLE):
        marks = marks_of(plot.figure)
    svg = _element(drawn, plot, marks)
    numbers = details(f"The {len(marks)} numbers drawn", _table(plot, marks)) if marks else ""
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png", "jsonl"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{text(plot.title)}</h3>\n{scroll(plot.title, svg)}\n'
        f"<figcaption><p>{text(plot.caption)}</p>"
        f"<p>Files, with every record: <code>figures/{text(files)}</code></p></figcaption>{numbers}</figure>"
    )


def _element(svg: str, plot: Plot, marks: Sequence[Mark]) -> str:
    opening = svg.index("<svg")
    start = svg.index(">", opening) + 1
    (box,) = re.findall(r'viewBox="([^"]+)"', svg[opening:start])
    body = svg[start : svg.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{plot.name}-', body)
    body = re.sub(r'(?:xlink:)?href="#', f'href="#{plot.name}-', body).replace("url(#", f"url(#{plot.name}-")
    body = re.sub(r"(?<=: )#[0-9a-f]{6}\b", lambda found: themed(found[0]), body)
    body = re.sub(r">\s+<", "><", body)
    body = re.sub(r' (?:d|x|y)="[^"]*"', _shortened, body)
    circles = "".join(
        f'<circle class=mark role=img cx="{mark.x:g}" cy="{mark.y:g}" r="{REACH}">'
        f"<title>{text(mark.words)}</title></circle>"
        for mark in marks
    )
    width = PIXELS * float(box.split()[2])
    return (
        f'<svg class=drawn viewBox="{box}" role=group aria-label="{text(plot.title)}" '
        'stroke-linejoin="round" '
        f'style="min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px">{body}{circles}</svg>'
    )


def _shortened(found: re.Match[str]) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", found[0]).replace("\n", " ")


def _table(plot: Plot, marks: Sequence[Mark]) -> str:
    cells = [("panel", "series", "at", "value"), *(astuple(mark)[2:] for mark in marks)]
    columns = [column for column in zip(*cells, strict=True) if any(column[1:])]
    header, *rows = zip(*columns, strict=True)
    table = Table(f"{plot.title}, in numbers", header, tuple(rows), labels=len(header) - 1)
    return table_html(table, f"{plot.name}-numbers", whole=False)
