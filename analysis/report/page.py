"""Write a study's report as a self-contained page, report.html."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from calque.analysis.looking import Look
from calque.analysis.report.claims_table import verdicts
from calque.analysis.report.curves import Curves, curves_html
from calque.analysis.report.html import definitions, details, figure_html, items, table_html, text
from calque.analysis.report.look_html import LIVE_BOX, look_html, look_sections
from calque.analysis.report.plot import Plot
from calque.analysis.report.sentence_figure import Example, example_html
from calque.analysis.report.table import MISSING, Table
from calque.derive.files import whole_file

MINUS = re.compile(r"(?<!\w)-(?=\d)")
Block = str | Sequence[str] | Table  # a paragraph, a list, or a table
FIRST = 3  # number of findings shown at the top
PAGE, STYLE, SCRIPT, LIVE = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("page.html", "page.css", "page.js", "live.js")
)


@dataclass(frozen=True)
class Report:
    """The contents of a report. `main` names the tables to print on a terminal (default: all), and `change`
    warns that the primary claims were changed after the runs."""

    title: str
    scale: str
    plots: Sequence[Plot]
    tables: Mapping[str, Table]
    claims: Table | None = None
    question: str = ""
    example: Example | None = None
    findings: Sequence[str] = ()
    curves: Sequence[Curves] = ()
    terms: Sequence[tuple[str, str]] = ()
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    null: Table | None = None
    primary: Table | None = None
    change: str = ""
    main: Sequence[str] = ()
    looks: Sequence[tuple[str, Look]] = ()
    checklist: Mapping[str, Sequence[Block]] = field(default_factory=dict)

    @property
    def statements(self) -> list[str]:
        """The findings, and the number of claims by verdict."""
        primary = [self.change, verdicts(self.primary, "primary claim")] if self.primary else []
        claims = [verdicts(self.claims)] if self.claims else []
        return [*filter(None, primary), *self.findings, *claims]


def write_page(path: Path, report: Report) -> None:
    """Write a report's page, which contains its figures and loads nothing from the network, atomically."""
    primary, statements = report.primary, report.statements
    sections = {
        "Primary claims": f"<p>{text(primary.title)}.</p>\n{_claims(primary)}" if primary else "",
        "Figures": "\n".join(map(figure_html, report.plots)),
        "Tables": "\n".join(table_html(table, name) for name, table in report.tables.items()),
        "Claims": _claims(report.claims) if report.claims else "",
        "Null": table_html(report.null, "null") if report.null else "",
        "Training curves": curves_html(report.curves),
        "Look inside": look_html(report.looks),
        "Terms": definitions(report.terms),
        "Further findings": items(statements[FIRST:]),
        "Configuration": definitions(report.facts),
        "Exclusions": items(report.exclusions),
        "Checklist": _checklist(report.checklist),
    }
    example = example_html(report.example) if report.example else ""
    header = (
        f"{_lead(report.question)}\n{example}\n{items(statements[:FIRST], 'findings')}\n"
        f'<p class="scale">Scale: {text(report.scale)}. Published numbers are marked; their scale '
        "differs.</p>"
    )
    write_sections(path, report.title, header, sections)


def write_look(path: Path, title: str, look: Look) -> None:
    """Write a page on a single checkpoint atomically."""
    languages = f"A model of {len(look.languages)} languages: {', '.join(look.languages)}."
    write_sections(path, title, _lead(languages), look_sections([("this model", look)]))


def _lead(words: str) -> str:
    return f"<p class=lead>{text(words)}</p>" if words else ""


def write_sections(path: Path, title: str, header: str, sections: Mapping[str, str]) -> None:
    """Write a page of HTML sections, each under its name, atomically; empty sections are omitted."""
    filled = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in filled)
    body = "\n".join(
        f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{content}\n</section>'
        for name, content in filled.items()
    )
    script = SCRIPT + (LIVE if LIVE_BOX in body else "")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    parts = {"title": text(title), "style": STYLE, "header": header, "links": links, "body": body}
    page = Template(PAGE).substitute(parts, script=script, digest=f"sha256-{digest}")
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def _claims(table: Table) -> str:
    boxes = [f"<p>{text(f'{verdicts(table)} {table.note}')}</p>"]
    for row in table.rows:
        claim, verdict, p, corrected, family, evidence, source, agreement = map(text, row)
        agreement = "" if agreement == MISSING else f" Agreement: {agreement}."
        boxes.append(
            f'<div class="claim {_anchor(verdict)}"><p>{claim}: <span class=verdict>{verdict}</span></p>'
            f"<p class=note>{MINUS.sub('−', evidence)}. p: {p}, corrected: {corrected}. "
            f"Family: {family}. From: {source}.{agreement}</p></div>"
        )
    return "\n".join(boxes)


def _checklist(answers: Mapping[str, Sequence[Block]]) -> str:
    parts = []
    for number, (name, blocks) in enumerate(answers.items()):
        parts.append(f"<h3>{text(name)}</h3>")
        for place, block in enumerate(blocks):
            if isinstance(block, Table):
                parts.append(table_html(block, f"checklist-{number}-{place}"))
            else:
                parts.append(f"<p>{text(block)}</p>" if isinstance(block, str) else items(block))
    return details("Answers to ARR's Responsible NLP checklist", "\n".join(parts)) if parts else ""


def _anchor(name: str) -> str:
    return re.split("[:,]", name)[0].lower().replace(" ", "-")
