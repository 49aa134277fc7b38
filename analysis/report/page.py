"""report.html: a study on one self-contained page."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from calque.analysis.looking.parts import Look
from calque.analysis.records.run import Run
from calque.analysis.report.claims_table import verdicts
from calque.analysis.report.curves import Curves, curves_html
from calque.analysis.report.html_figure import figure_html
from calque.analysis.report.html_table import runs_shown, table_html
from calque.analysis.report.look_html import LIVE_BOX, look_html, look_sections
from calque.analysis.report.markup import definitions, items, text
from calque.analysis.report.plot import Plot
from calque.analysis.report.sentence_figure import Example, example_html
from calque.analysis.report.table import MISSING, Table
from calque.derive.files import whole_file

LINES = 60  # a screen or two
MINUS = re.compile(r"(?<!\w)-(?=\d)")
FIRST = 3  # findings on the first screen
FOLDER = Path(__file__).parent
PAGE = Template((FOLDER / "page.html").read_text(encoding="utf-8"))
STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")  # in light and dark, on a phone and on paper
SCRIPT, LIVE = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.js", "live.js"))


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

    `question` is the study's question, and `example` a sentence in its languages. `findings` are a few sentences;
    `primary` claims, `claims` and `null` are tables of `analysis.report.claims_table`. Tables have the names of their
    files. `curves` are training curves. `terms` explain the words that a reader must know. `examples` are texts under
    their titles; `exclusions` and `facts` are lines of plain text: exclusions with reasons, and the configuration
    (versions, machine, parameters). `looks` are looks into models, with their titles.
    """

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
    examples: Sequence[tuple[str, str]] = ()
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    runs: Sequence[Run] = ()
    null: Table | None = None
    primary: Table | None = None
    looks: Sequence[tuple[str, Look]] = ()


def write_page(path: Path, report: Report) -> None:
    """Write the page, whole or not at all; it contains its figures and loads nothing from the network."""
    of = len(report.runs)
    primary = report.primary
    sections = {
        "Primary claims": f"<p>{text(primary.title)}.</p>\n{_claims(primary)}" if primary else "",
        "Figures": "\n".join(figure_html(plot, report.runs) for plot in report.plots),
        "Tables": "\n".join(_table(table, name, of) for name, table in report.tables.items()),
        "Claims": _claims(report.claims) if report.claims else "",
        "Null": _table(report.null, "null", of) if report.null else "",
        "Training curves": curves_html(report.curves),
        "Look inside": look_html(report.looks),
        "Examples": "\n".join(
            f"<h3>{text(name)}</h3>\n<pre tabindex=0>{text(words)}</pre>" for name, words in report.examples
        ),
        "Terms": definitions(report.terms),
        "Further findings": items(report.findings[FIRST:]),
        "Runs": table_html(runs_table(report.runs), "runs", whole=False) if report.runs else "",
        "Configuration": definitions(report.facts),
        "Exclusions": items(report.exclusions),
    }
    example = example_html(report.example) if report.example else ""
    header = (
        f"{_lead(report.question)}\n{example}\n{items(report.findings[:FIRST], 'findings')}\n"
        f'<p class="scale">Scale: {text(report.scale)}. Published numbers are marked; their scale differs.</p>'
    )
    write_sections(path, report.title, header, sections)


def write_look(path: Path, title: str, look: Look) -> None:
    """Write the page of one checkpoint, whole or not at all."""
    languages = f"A model of {len(look.languages)} languages: {', '.join(look.languages)}."
    write_sections(path, title, _lead(languages), look_sections([("this model", look)]))


def _lead(words: str) -> str:
    return f"<p class=lead>{text(words)}</p>" if words else ""


def write_sections(path: Path, title: str, header: str, sections: Mapping[str, str]) -> None:
    """Write a page of HTML sections under their names, whole or not at all; sections without content are left out."""
    filled = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a>' for name in filled)
    body = "\n".join(
        f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{content}\n</section>' for name, content in filled.items()
    )
    script = SCRIPT + (LIVE if LIVE_BOX in body else "")
    page = PAGE.substitute(
        title=text(title),
        style=STYLE,
        header=header,
        links=links,
        body=body,
        script=script,
        digest=_digest(f"\n{script}"),
    )
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def runs_table(runs: Sequence[Run]) -> Table:
    """The runs of a study and what distinguishes them; the id of a run is its path below the study's folder."""
    keys = list(dict.fromkeys(key for run in runs for key in run.settings))
    mixed = any(run.mixture for run in runs)
    header = ("objective", "languages", "seed", *(["mixture"] if mixed else []), *keys, "started from", "path")
    rows = []
    for run in runs:
        languages = ", ".join(language.title for language in run.languages[1:] or run.languages)
        mixture = [run.mixture.title if run.mixture else MISSING] if mixed else []
        settings = [run.settings.get(key, MISSING) for key in keys]
        objective = run.objective.title if run.objective else MISSING
        start = run.start.title if run.start else MISSING
        rows.append((objective, languages or MISSING, str(run.seed), *mixture, *settings, start, run.id))
    return Table(f"The {len(runs)} runs", header, tuple(rows))


def _digest(script: str) -> str:
    """What the page's policy lets run: this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _claims(table: Table) -> str:
    """The number of claims per verdict, and one box per claim: a table of sentences is hard to read on a phone."""
    boxes = [
        f'<div class="claim {_anchor(verdict)}"><p>{text(claim)}: <span class=verdict>{text(verdict)}</span></p>'
        f"<p class=note>{MINUS.sub('−', text(evidence))}. p: {text(p)}, corrected: {text(corrected)}. "
        f"Family: {text(family)}. From: {text(source)}."
        f"{'' if agreement == MISSING else f' Agreement: {text(agreement)}.'}</p></div>"
        for claim, verdict, p, corrected, family, evidence, source, agreement in table.rows
    ]
    return f"<p>{text(f'{verdicts(table)} {table.note}')}</p>\n" + "\n".join(boxes)


def _table(table: Table, name: str, of: int) -> str:
    return table_html(table, name) + runs_shown(table.runs, of)


def _anchor(name: str) -> str:
    """A name as a class or an anchor: its words before any colon or comma, joined."""
    return re.split("[:,]", name)[0].lower().replace(" ", "-")
