"""Write a study's report as a self-contained page, report.html."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from calque.analysis.looking import Look
from calque.analysis.report.claims import CLAIMS, PRIMARY_CLAIMS, TESTED, verdicts
from calque.analysis.report.drawing import Plot, svg_of
from calque.analysis.report.table import MISSING, PUBLISHED, Table, numeric, visible
from calque.analysis.verdicts import FAILS, HOLDS, UNDECIDED
from calque.derive.files import whole_file

FIRST = 3  # number of claims shown at the top
PAGE, STYLE, LIVE = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("page.html", "page.css", "live.js")
)


@dataclass(frozen=True)
class Report:
    """The contents of a report. `change` warns that the primary claims changed after the runs."""

    title: str
    scale: str
    plots: Sequence[Plot]
    tables: Mapping[str, Table]
    question: str = ""
    example: str = ""
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    change: str = ""
    looks: Sequence[tuple[str, Look]] = ()

    @property
    def headlines(self) -> list[str]:
        """Up to three claims with their verdicts, decided ones first, and the number by verdict."""
        claims = self.tables.get(CLAIMS)
        if not claims:
            return []
        lines, decided = [], (HOLDS, FAILS)
        order = sorted(claims.rows, key=lambda row: (row[1] not in decided, row[1].startswith(UNDECIDED)))
        for claim, verdict, *_, because in (row[:6] for row in order[:FIRST]):
            reason = f" ({because.split(';')[0]})" if verdict in decided else ""
            lines.append(f"{verdict}: {claim}{reason}")
        return [*lines, verdicts(claims)]


def write_page(path: Path, report: Report) -> None:
    """Atomically write a report's page, which loads nothing from the network."""
    primary_claims = report.tables.get(PRIMARY_CLAIMS)
    first = [report.change, verdicts(primary_claims, "primary claims")] if primary_claims else []
    statements = [*filter(None, first), *report.headlines]
    tables = {name: table_html(table, name) for name, table in report.tables.items()}
    primary, claims = (tables.pop(name, "") for name in TESTED)
    facts = "".join(f"<dt>{text(term)}</dt><dd>{text(value)}</dd>" for term, value in report.facts)
    sections = {
        "Primary claims": primary,
        "Figures": "\n".join(map(_figure, report.plots)),
        "Tables": "\n".join(tables.values()),
        "Claims": claims,
        "Look inside": _live(report.looks),
        "Configuration": f"<dl>{facts}</dl>" if facts else "",
        "Exclusions": _items(report.exclusions),
    }
    example = _scroll("Example", f"<pre>{text(report.example)}</pre>") if report.example else ""
    kinds = {table.kind(row) for table in report.tables.values() for row in table.rows}
    published = PUBLISHED in kinds or any(plot.published for plot in report.plots)
    marked = " Published numbers are marked; their scale differs." if published else ""
    header = (
        f"{_lead(report.question)}\n{example}\n{_items(statements, 'findings')}\n"
        f'<p class="scale">Scale: {text(report.scale)}.{marked}</p>'
    )
    _write(path, report.title, header, sections)


def write_look(path: Path, title: str, look: Look) -> None:
    """Atomically write a page on a single checkpoint."""
    words = f"<pre>{text(str(look))}</pre>"
    sections = {"Fill a mask": _live([("this model", look)]), "Words": words}
    _write(path, title, _lead(f"Languages: {', '.join(look.languages)}."), sections)


def _lead(words: str) -> str:
    return f"<p class=lead>{text(words)}</p>" if words else ""


def _write(path: Path, title: str, header: str, sections: Mapping[str, str]) -> None:
    links, body = "", ""
    for name, content in sections.items():
        if content:
            anchor = name.lower().replace(" ", "-")
            links += f'<a href="#{anchor}">{name}</a>'
            body += f'<section id="{anchor}">\n<h2>{name}</h2>\n{content}\n</section>\n'
    script = LIVE if LIVE_BOX in body else ""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    fields = {"title": text(title), "style": STYLE, "header": header, "links": links, "body": body}
    page = Template(PAGE).substitute(fields, script=script, digest=f"sha256-{digest}")
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def text(words: str) -> str:
    """Escape text for use in an element or a quoted attribute."""
    return escape(visible(words))


def _items(words: Sequence[str], kind: str = "items") -> str:
    parts = "".join(f"<li>{text(item)}</li>" for item in words)
    return f"<ul class={kind}>{parts}</ul>" if parts else ""


def _scroll(label: str, body: str) -> str:
    return f'<div class=scroll tabindex=0 role=region aria-label="{text(label)}">{body}</div>'


# Tables


def table_html(table: Table, name: str) -> str:
    """Return a table with its title and note; `name` is its file's name."""
    classes = []
    for column in table.columns[table.labels :]:
        words = any(cell != MISSING and not numeric([cell]) for cell in column)
        classes.append(" class=words" if words else "")
    rows = "\n".join(_row(table, row, classes) for row in table.rows)
    head = _row(table, table.header, classes, "th")
    body = f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table>"
    note = f"<p class=note>{text(table.note)}</p>" if table.note else ""
    return f'<h3 id="data-{text(name)}">{text(table.title)}</h3>\n{_scroll(table.title, body)}{note}'


def _row(table: Table, row: tuple[str, ...], classes: list[str], tag: str = "td") -> str:
    first, *labels = row[: table.labels]
    below = text(" · ".join(label for label in labels if label != MISSING))
    cells = f"<th scope={'row' if tag == 'td' else 'col'}>{text(first)}"
    cells += f" <small>{below}</small></th>" if labels else "</th>"
    for cell, kind in zip(row[table.labels :], classes, strict=True):
        cells += f"<{tag}{kind}>{text(cell)}</{tag}>"
    return f"<tr data-kind={table.kind(row)}>{cells}</tr>"


# Figures

PIXELS = 96  # CSS pixels per inch
SMALLEST, LARGEST = 0.8, 1.4  # limits on the scale of a figure, which scrolls on narrower screens


def _figure(plot: Plot) -> str:
    data = base64.b64encode(svg_of(plot.figure).encode()).decode()
    width, title = PIXELS * plot.figure.get_figwidth(), text(plot.title)
    limits = f"min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px"
    image = f'<img class=drawn alt="{title}" style="{limits}" src="data:image/svg+xml;base64,{data}">'
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png", "jsonl"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{title}</h3>\n{_scroll(plot.title, image)}\n'
        f"<figcaption><p>{text(plot.caption)}</p>"
        f"<p>Files, with every record: <code>figures/{text(files)}</code></p></figcaption></figure>"
    )


# The box for guesses of several models

LIVE_BOX = "<div class=live>"
LIVE_LETTERS = 4_000_000  # maximum total length of the weights stored in a page


def _live(looks: Sequence[tuple[str, Look]]) -> str:
    models, letters, shared = list[dict[str, Any]](), 0, dict[str, Any]()
    for title, look in looks:
        vocabulary = dict(look.live or {})
        model = {name: vocabulary.pop(name, "") for name in ("shape", "weights")}
        letters += len(model["weights"])
        if vocabulary and vocabulary == (shared or vocabulary) and letters <= LIVE_LETTERS:
            shared = vocabulary
            models.append({"title": title, **model})
    if not models:
        return ""
    scope = f" for {len(models)} of {len(looks)} models" if len(models) < len(looks) else ""
    data = json.dumps({**shared, "models": models}, ensure_ascii=False, allow_nan=False)
    data = data.replace("<", "\\u003c")  # which could end the script element
    options = "".join(f"<option>{text(language)}</option>" for language in shared["types"])
    return (
        f"{LIVE_BOX}<p>Type a sentence with one <code>{text(shared['mask'][0])}</code> to see guesses, or "
        f"one word to see its nearest words. The page computes both{scope}.</p>\n"
        f"<p><label>Language <select>{options}</select></label> "
        "<label>Sentence <input type=text spellcheck=false></label></p>\n"
        f"{_scroll('Guesses or nearest words', '<table></table>')}<p><output></output></p>"
        "<noscript><p>Guesses are computed by a script.</p></noscript>"
        f'<script type="application/json">{data}</script></div>'
    )
