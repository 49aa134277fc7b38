"""A figure in a page: vectors with the value of every mark, and the table behind it."""

import io
import re
from collections.abc import Sequence

import matplotlib as mpl

from calque.analysis.report.drawing import STYLE, Mark, marks_of
from calque.analysis.report.html_table import table_html
from calque.analysis.report.markup import details, items, text, themed
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table, visible

PIXELS = 96 / 72  # of a browser, per point
SMALLEST, LARGEST = 0.8, 1.4
"""Limits of a figure's scale: smaller letters are illegible, so a narrow screen scrolls instead."""
REACH = 5  # radius in points within which a mark is met


def figure_html(plot: Plot) -> str:
    svg, marks = vectors(plot)
    numbers = details(f"The {len(marks)} numbers drawn", _table(plot, marks)) if marks else ""
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png", "jsonl"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{text(plot.title)}</h3>\n'
        f'<div class=scroll tabindex=0 role=region aria-label="{text(plot.title)}">{svg}</div>\n'
        f"<figcaption><p>{text(plot.caption)}</p>{items(tuple(plot.details))}"
        f"<p>Files, with every record: <code>figures/{text(files)}</code></p></figcaption>{numbers}</figure>"
    )


def vectors(plot: Plot) -> tuple[str, list[Mark]]:
    raw = io.StringIO()
    with mpl.rc_context(STYLE):
        plot.figure.savefig(raw, format="svg", metadata={"Date": None, "Creator": None})
        marks = marks_of(plot.figure)
    return _element(visible(raw.getvalue()), plot, marks), marks


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
        f'<svg class=drawn viewBox="{box}" role=group aria-label="{text(plot.title)}" stroke-linejoin="round" '
        f'style="min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px">{body}{circles}</svg>'
    )


def _shortened(found: re.Match[str]) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", found[0]).replace("\n", " ")


def _table(plot: Plot, marks: Sequence[Mark]) -> str:
    columns = [("panel", 2), ("series", 3), ("at", 4), ("value", 5)]
    shown = [(head, i) for head, i in columns if any(mark[i] for mark in marks)]
    header, places = zip(*shown, strict=True)
    rows = tuple(tuple(str(mark[i]) for i in places) for mark in marks)
    table = Table(f"{plot.title}, in numbers", header, rows, labels=len(header) - 1)
    return table_html(table, f"{plot.name}-numbers", whole=False)
