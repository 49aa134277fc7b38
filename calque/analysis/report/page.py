"""Write a study's report as a self-contained page, report.html."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from matplotlib.axes import Axes

from calque.analysis.looking import Look
from calque.analysis.report.claims import CLAIMS, PRIMARY_CLAIMS, TESTED, verdicts
from calque.analysis.report.drawing import FULL, Dash, Plot, key, small_multiples
from calque.analysis.report.html import (
    LIVE_BOX,
    definitions,
    figure_html,
    image_html,
    items,
    look_html,
    look_sections,
    scroll,
    table_html,
    text,
)
from calque.analysis.report.table import PUBLISHED, Table, visible
from calque.analysis.statistics import FAILS, HOLDS, UNDECIDED
from calque.derive.files import whole_file

FIRST = 3  # number of claims shown at the top
PAGE, STYLE, LIVE = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("page.html", "page.css", "live.js")
)


@dataclass(frozen=True)
class Curves:
    """The metrics recorded while a run was trained; each row contains a `step`. Runs of a `group` share a
    line style."""

    group: str
    colour: str
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Report:
    """The contents of a report. Those tables that are named in TESTED have sections of their own.
    `change` warns that the primary claims changed after the runs."""

    title: str
    scale: str
    plots: Sequence[Plot]
    tables: Mapping[str, Table]
    question: str = ""
    example: str = ""
    curves: Sequence[Curves] = ()
    terms: Sequence[tuple[str, str]] = ()
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    change: str = ""
    looks: Sequence[tuple[str, Look]] = ()
    checklist: Sequence[tuple[str, str]] = ()

    @property
    def headlines(self) -> list[str]:
        """Up to three claims with their verdicts, decided claims first, and the number of claims by
        verdict."""
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
    first = [report.change, verdicts(primary_claims, "primary claim")] if primary_claims else []
    statements = [*filter(None, first), *report.headlines]
    tables = {name: table_html(table, name) for name, table in report.tables.items()}
    primary, claims, null = (tables.pop(name, "") for name in TESTED)
    summary = "<summary>Answers to ARR’s Responsible NLP checklist</summary>"
    answers = definitions(report.checklist)
    checklist = f"<details>{summary}{answers}</details>" if answers else ""
    sections = {
        "Primary claims": primary,
        "Figures": "\n".join(map(figure_html, report.plots)),
        "Tables": "\n".join(tables.values()),
        "Claims": claims,
        "Null": null,
        "Training curves": curves_html(report.curves),
        "Look inside": look_html(report.looks),
        "Terms": definitions(report.terms),
        "Configuration": definitions(report.facts),
        "Exclusions": items(report.exclusions),
        "Checklist": checklist,
    }
    example = scroll("Example", f"<pre>{text(report.example)}</pre>") if report.example else ""
    kinds = {table.kind(row) for table in report.tables.values() for row in table.rows}
    published = PUBLISHED in kinds or any(plot.published for plot in report.plots)
    marked = " Published numbers are marked; their scale differs." if published else ""
    header = (
        f"{_lead(report.question)}\n{example}\n{items(statements, 'findings')}\n"
        f'<p class="scale">Scale: {text(report.scale)}.{marked}</p>'
    )
    write_sections(path, report.title, header, sections)


def write_look(path: Path, title: str, look: Look) -> None:
    """Atomically write a page on a single checkpoint."""
    languages = f"A model of {len(look.languages)} languages: {', '.join(look.languages)}."
    write_sections(path, title, _lead(languages), look_sections([("this model", look)]))


def _lead(words: str) -> str:
    return f"<p class=lead>{text(words)}</p>" if words else ""


def write_sections(path: Path, title: str, header: str, sections: Mapping[str, str]) -> None:
    """Atomically write a page of HTML sections, without empty sections."""
    links, parts = "", []
    for name, content in sections.items():
        if content:
            links += f'<a href="#{_anchor(name)}">{name}</a>'
            parts.append(f'<section id="{_anchor(name)}">\n<h2>{name}</h2>\n{content}\n</section>')
    body = "\n".join(parts)
    script = LIVE if LIVE_BOX in body else ""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    fields = {"title": text(title), "style": STYLE, "header": header, "links": links, "body": body}
    page = Template(PAGE).substitute(fields, script=script, digest=f"sha256-{digest}")
    with whole_file(path) as part:
        part.write_text(page, encoding="utf-8")


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


# Training curves, such as loss and speed

Points = list[tuple[int, float]]
POINTS = 200  # maximum number of points on a curve
LEFT_OUT = {"step", "of", "tokens", "learning rate", "mfu"}
PROBE, MEASURE = "probe", "alignment@1"  # the probe's key in a run's metrics, and its title
DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.")  # distinguish groups with the same colour


def curves_html(curves: Sequence[Curves]) -> str:
    """Return a figure with a panel for each quantity and a curve for each run, or "" without numbers."""
    panels = _panels(curves)
    if not panels:
        return ""
    counts, styles = Counter[str](), dict[str, tuple[str, Dash]]()
    for group, colour in {run.group: run.colour for run in curves}.items():
        styles[group] = colour, DASHES[counts[colour] % len(DASHES)]
        counts[colour] += 1

    def draw(axes: Axes, lines: Mapping[int, Points]) -> None:
        for run, points in lines.items():
            colour, dash = styles[curves[run].group]
            some = points[:: -(-len(points) // POINTS)]
            axes.plot(*zip(*some, strict=True), dash, color=colour, lw=0.8, alpha=0.8)

    title = "Each run’s metrics, by training step"
    keys = [key(visible(group), colour, line=dash) for group, (colour, dash) in styles.items()]
    return image_html(small_multiples(title, list(panels.items()), draw, (3, 1.7), keys, width=FULL), title)


def _panels(curves: Sequence[Curves]) -> dict[str, dict[int, Points]]:
    """Return each quantity's points by run: losses first, probes last."""
    panels: dict[str, dict[int, Points]] = {}
    for number, run in enumerate(curves):
        for row in run.rows:
            for name, value in _quantities(row):
                panels.setdefault(name, {}).setdefault(number, []).append((row["step"], value))
    order = sorted(panels, key=lambda name: (name.startswith(PROBE), not name.startswith("loss")))
    return {visible(name.replace(f"{PROBE}: ", f"{MEASURE}, ")): panels[name] for name in order}


def _quantities(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the titles and values of a row's numbers."""
    for name, value in row.items():
        nested = isinstance(value, Mapping)
        numbers = {f"{name}: {part}": number for part, number in value.items()} if nested else {name: value}
        for title, number in numbers.items():
            if isinstance(number, int | float) and title not in LEFT_OUT:
                yield title, number
