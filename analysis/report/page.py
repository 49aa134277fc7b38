"""report.html: a study on one page that needs nothing but itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from analysis.papers.align_mlm.claims import FAILS, HOLDS, UNDECIDED
from analysis.report.plot import Drawing
from analysis.report.table import Table
from derive.files import whole_file

STYLE = """
:root { color-scheme: light; --ink: #1d2327; --soft: #5b656d; --line: #dfe3e6; --shade: #f5f7f8; --link: #0b5394; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem; background: #fff; color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
p, figcaption, dd { max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
a { color: var(--link); }
dt { font-weight: 600; } dd { margin: 0 0 .6rem; }
figure { margin: 1.4rem 0 2.2rem; } figure img { width: 100%; min-width: 38rem; height: auto; }
figcaption, .note, summary, .scale { color: var(--soft); font-size: .92rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; margin-top: .6rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { background: var(--shade); vertical-align: bottom; }
.numbers td:nth-child(n+4), .numbers th:nth-child(n+4) { text-align: right; white-space: nowrap; }
.numbers th:nth-child(n+4) { white-space: normal; min-width: 5.2em; }
.numbers td:nth-child(-n+3) { white-space: nowrap; }
tr.published td { color: var(--soft); font-style: italic; }
.claim { border-left: .3rem solid var(--line); padding: .15rem 0 .15rem .8rem; margin: .7rem 0; }
.claim p { margin: .1rem 0; } .claim .note { margin: 0; }
.verdict { font-weight: 600; } .holds { border-color: #009E73; } .fails { border-color: #D55E00; }
.undecided { border-color: #9aa3aa; }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
li, code { overflow-wrap: anywhere; } details { margin: .4rem 0; }
@media print { details { display: block; } body { max-width: none; } }
"""

TERMS = {
    "Source and derived language": "The derived language is made out of the source, one difference at a time: Trans "
    "gives it a script of its own, Inv turns the order of its words round. Everything else is the same, so what "
    "changes in the results is due to that difference.",
    "SUP, ZS and Δ": "SUP is the score on the derived language after fine-tuning on the derived language. ZS "
    "(zero-shot) is the score on the derived language after fine-tuning on the source only. Δ = SUP − ZS is what is "
    "lost because the labels were in another language: 0 is perfect transfer, and smaller is better.",
    "alignment@1": "Every type (a word or a piece of one) has a row of numbers in the model, its embedding. "
    "alignment@1 is the share of the source’s types whose most similar row among all types of the derived language "
    "is that of their own counterpart. Held-out types are those that no dictionary told the model about.",
    "Self-labelling and AER": "XLM-Align links the words of parallel sentences by itself, by how alike their hidden "
    "states are, and learns from these labels. As the languages are derived, it is known which links are right. AER, "
    "the alignment error rate, is how much of the links found and of those to be found does not agree: 0 is perfect.",
    "Pretraining objectives": "MLM fills gaps in sentences of either language. XLM also fills gaps in pairs of "
    "translated sentences. DICT-MLM puts translations from a small dictionary into the sentences. ALIGN-MLM pulls "
    "the embeddings of the dictionary’s pairs towards each other. XLM-Align fills gaps in sentences and in pairs of "
    "them, and points from a gap in one sentence to the word in the other that it is linked to.",
}
_BORDER = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "undecided"}


@dataclass(frozen=True)
class Report:
    """What the page says.

    `claims` is `claims_table`'s table, if claims were tested. `terms` are explained at its head.
    `examples` are texts shown as they are, under their titles, `dropped` and `facts` lines of plain text: what
    the study left out and why, and with what it was made (versions, machine, time, parameters).
    """

    title: str
    scale: str
    drawings: Sequence[Drawing]
    claims: Table | None
    tables: Sequence[Table]
    examples: Sequence[tuple[str, str]] = ()
    dropped: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    runs: Sequence[str] = ()
    terms: Mapping[str, str] = field(default_factory=lambda: TERMS)


def write_report(path: Path, report: Report) -> None:
    """Write the page, whole or not at all; it holds its figures and asks the network for nothing."""
    sections = {
        "Terms": _facts(tuple(report.terms.items())),
        "Figures": "\n".join(map(_figure, report.drawings)),
        "Claims": _claims(report.claims) if report.claims else "",
        "Tables": "\n".join(f"<div class=numbers>{table.html}{_shown(table.runs)}</div>" for table in report.tables),
        "Examples": "\n".join(f"<h3>{escape(name)}</h3>\n<pre>{escape(text)}</pre>" for name, text in report.examples),
        "Left out": _list(report.dropped),
        "Made with": _facts(report.facts),
        "Runs": _list(report.runs),
    }
    there = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in there)
    body = "\n".join(
        f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{text}\n</section>' for name, text in there.items()
    )
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
<p class="scale">Scale: {escape(report.scale)}. Published numbers are marked; they are of another scale.</p>
<nav>{links}</nav>
</header>
{body}
</body>
</html>
"""
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def _figure(drawing: Drawing) -> str:
    """The SVG as an image of its own, so that two figures' names inside cannot meet."""
    svg = base64.b64encode(drawing.svg.read_bytes()).decode()
    title = escape(drawing.title)
    return (
        f'<figure><h3>{title}</h3>\n<div class=scroll><img alt="{title}" src="data:image/svg+xml;base64,{svg}"></div>\n'
        f"<figcaption><p>{escape(drawing.caption)}</p>{_list(drawing.details)}"
        f"<p>Records: <code>{escape(drawing.records.name)}</code></p></figcaption>{_shown(drawing.runs)}</figure>"
    )


def _claims(table: Table) -> str:
    """One box a claim: a table of sentences is hard to read on a phone."""
    boxes = [
        f'<div class="claim {_BORDER[verdict]}"><p>{escape(claim)}: <span class=verdict>{verdict}</span></p>'
        f"<p class=note>{escape(because)}. From: {escape(where)}.</p></div>"
        for claim, verdict, because, where in table.rows
    ]
    return f"<p>{escape(table.note)}</p>\n" + "\n".join(boxes)


def _shown(runs: Sequence[str]) -> str:
    return f"<details><summary>The {len(runs)} runs shown</summary>{_list(runs)}</details>" if runs else ""


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>" if items else ""


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts) + "</dl>" if facts else ""


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
