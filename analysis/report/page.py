"""report.html: a study on one self-contained page."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from calque.analysis.report.claims_table import verdicts
from calque.analysis.report.plot import Drawing
from calque.analysis.report.table import Table, visible
from calque.derive.files import whole_file

LINES = 60  # a screen or two
FOLDER = Path(__file__).parent
PAGE = Template((FOLDER / "page.html").read_text(encoding="utf-8"))
STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")  # in light and dark, on a phone and on paper
FIGURE_STYLE = (FOLDER / "figure.css").read_text(encoding="utf-8")
"""For colours of figures that are too dark or too light in dark mode. It goes into each SVG, because the page's own
style does not reach into an image."""
PIXELS = 96 / 72  # of a browser, per point
SMALLEST, LARGEST = 0.8, 1.25
"""Limits of a figure's scale: smaller letters are illegible, so a narrow screen scrolls instead."""


def excerpt(text: str, lines: int = LINES) -> str:
    """The first numbered examples of a preview that fit in `lines` lines, at least one, and the number left out. An
    example starts with its number and a dot at the start of a line."""
    parts = re.split(r"^(?=\d+\.)", text, flags=re.MULTILINE)
    kept, rest = parts[:2], parts[2:]
    while rest and sum(part.count("\n") for part in [*kept, rest[0]]) <= lines:
        kept.append(rest.pop(0))
    return "".join(kept).rstrip() + "\n" + (f"\n{len(rest):,} more in the preview\n" if rest else "")


@dataclass(frozen=True)
class Report:
    """The contents of the page, from top to bottom.

    `findings` are a few sentences; `claims` and `null` are those of `analysis.report.claims_table`, if there are any.
    `terms` explain the words that a reader must know. `examples` are texts under their titles; `exclusions` and `facts`
    are lines of plain text: what was left out and why, and the configuration (versions, machine, parameters).
    """

    title: str
    scale: str
    drawings: Sequence[Drawing]
    claims: Table | None
    tables: Sequence[Table]
    findings: Sequence[str] = ()
    terms: Sequence[tuple[str, str]] = ()
    examples: Sequence[tuple[str, str]] = ()
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    runs: Sequence[str] = ()
    null: Table | None = None


def write_page(path: Path, report: Report) -> None:
    """Write the page, whole or not at all; it contains its figures and loads nothing from the network."""
    sections = {
        "Figures": "\n".join(map(_figure, report.drawings)),
        "Claims": _claims(report.claims) if report.claims else "",
        "Null": _table(report.null) if report.null else "",
        "Tables": "\n".join(map(_table, report.tables)),
        "Terms": _facts(report.terms),
        "Examples": "\n".join(f"<h3>{_text(name)}</h3>\n<pre>{_text(text)}</pre>" for name, text in report.examples),
        "Exclusions": _list(report.exclusions),
        "Configuration": _facts(report.facts),
        "Runs": _list(report.runs),
    }
    filled = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in filled)
    body = "\n".join(
        f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{text}\n</section>' for name, text in filled.items()
    )
    page = PAGE.substitute(
        title=_text(report.title),
        style=STYLE,
        findings=_list(report.findings, "findings"),
        scale=_text(report.scale),
        links=links,
        body=body,
    )
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def _figure(drawing: Drawing) -> str:
    """The SVG as an image of its own, so that ids of two figures cannot collide, with a style for dark mode."""
    svg = drawing.svg.read_text(encoding="utf-8")
    (points,) = re.findall(r'<svg[^>]*\swidth="([\d.]+)pt"', svg)  # as Matplotlib writes it
    width = PIXELS * float(points)
    start = svg.index(">", svg.index("<svg")) + 1
    image = base64.b64encode(f"{svg[:start]}<style>{FIGURE_STYLE}</style>{svg[start:]}".encode()).decode()
    title = _text(drawing.title)
    return (
        f'<figure><div class=drawing><h3>{title}</h3>\n<div class=scroll><img alt="{title}" '
        f'style="min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px" '
        f'src="data:image/svg+xml;base64,{image}"></div></div>\n'
        f"<figcaption><p>{_text(drawing.caption)}</p>{_list(drawing.details)}"
        f"<p>Records: <code>{_text(drawing.records.name)}</code></p></figcaption>{_runs(drawing.runs)}</figure>"
    )


def _claims(table: Table) -> str:
    """The number of claims per verdict, and one box per claim: a table of sentences is hard to read on a phone."""
    boxes = [
        f'<div class="claim {_anchor(verdict)}"><p>{_text(claim)}: <span class=verdict>{_text(verdict)}</span></p>'
        f"<p class=note>{_text(evidence)}. p: {_text(p)}, corrected: {_text(corrected)}. Family: {_text(family)}. "
        f"From: {_text(source)}.</p></div>"
        for claim, verdict, p, corrected, family, evidence, source in table.rows
    ]
    return f"<p>{_text(f'{verdicts(table)} {table.note}')}</p>\n" + "\n".join(boxes)


def _table(table: Table) -> str:
    return f"{table.html}{_runs(table.runs)}"


def _runs(runs: Sequence[str]) -> str:
    return f"<details><summary>The {len(runs)} runs shown</summary>{_list(runs)}</details>" if runs else ""


def _list(items: Sequence[str], kind: str = "items") -> str:
    return f"<ul class={kind}>" + "".join(f"<li>{_text(item)}</li>" for item in items) + "</ul>" if items else ""


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in facts) + "</dl>" if facts else ""


def _text(text: str) -> str:
    return escape(visible(text))


def _anchor(name: str) -> str:
    """A name as a class or an anchor: its words before any colon or comma, joined."""
    return re.split("[:,]", name)[0].lower().replace(" ", "-")
