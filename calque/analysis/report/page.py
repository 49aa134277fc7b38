"""Write a study's report as a self-contained page, report.html."""

import base64
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from calque.analysis.looking import Alignment, EmbeddingMap, Look
from calque.analysis.report.claims import CLAIMS, PRIMARY_CLAIMS, TESTED, verdicts
from calque.analysis.report.drawing import FULL, LOOKS, SOFT, Dash, Plot, key, small_multiples, svg_of
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, numeric, visible
from calque.analysis.statistics import FAILS, HOLDS, UNDECIDED
from calque.derive.files import whole_file

T = TypeVar("T")
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
    exclusions: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    change: str = ""
    looks: Sequence[tuple[str, Look]] = ()

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
    first = [report.change, verdicts(primary_claims, "primary claims")] if primary_claims else []
    statements = [*filter(None, first), *report.headlines]
    tables = {name: table_html(table, name) for name, table in report.tables.items()}
    primary, claims = (tables.pop(name, "") for name in TESTED)
    sections = {
        "Primary claims": primary,
        "Figures": "\n".join(map(figure_html, report.plots)),
        "Tables": "\n".join(tables.values()),
        "Claims": claims,
        "Training curves": curves_html(report.curves),
        "Look inside": look_html(report.looks),
        "Configuration": definitions(report.facts),
        "Exclusions": items(report.exclusions),
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


# Elements


def text(words: str) -> str:
    """Escape text for use in an element or a quoted attribute."""
    return escape(visible(words))


def items(words: Sequence[str], kind: str = "items") -> str:
    """Return a list, or "" without items."""
    parts = "".join(f"<li>{text(item)}</li>" for item in words)
    return f"<ul class={kind}>{parts}</ul>" if parts else ""


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a list of terms with their definitions, or "" if there are none."""
    parts = "".join(f"<dt>{text(term)}</dt><dd>{text(meaning)}</dd>" for term, meaning in pairs)
    return f"<dl>{parts}</dl>" if parts else ""


def scroll(label: str, body: str) -> str:
    """Return a labelled region that scrolls if its content is wider than the page."""
    return f'<div class=scroll tabindex=0 role=region aria-label="{text(label)}">{body}</div>'


# Tables


def table_html(table: Table, name: str) -> str:
    """Return a table with its title and note; `name` is its file's name."""
    hidden = _outside(table)
    classes = []
    for column in table.columns[table.labels :]:
        numbers = all(cell == MISSING or numeric([cell]) for cell in column)
        classes.append("" if numbers else " class=words")
    rows = "\n".join(_row(table, row, classes) for row in table.rows if row not in hidden)
    notice = (
        f"The Markdown file has {len(hidden)} more published rows, from outside this study." if hidden else ""
    )
    note = text(" ".join(filter(None, (table.note, notice))))
    head = _row(table, table.header, classes, "th")
    body = f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody></table>"
    return (
        f'<div class=data><h3 id="data-{text(name)}">{text(table.title)}</h3>\n{scroll(table.title, body)}'
        f"{f'<p class=note>{note}</p>' if note else ''}</div>"
    )


def _outside(table: Table) -> list[tuple[str, ...]]:
    """Return the published rows for settings that the study lacks, unless it lacks all of them."""
    settings = {row: {*row[: table.labels]} - {OURS, PUBLISHED} for row in table.rows}
    ours = [setting for row, setting in settings.items() if table.kind(row) == OURS]
    published = [row for row in settings if table.kind(row) == PUBLISHED]
    outside = [row for row in published if settings[row] not in ours]
    return outside if len(outside) < len(published) else []


def _row(table: Table, row: tuple[str, ...], classes: list[str], tag: str = "td") -> str:
    first, *labels = row[: table.labels]
    below = text(" · ".join(label for label in labels if label != MISSING))
    cells = f"<th scope={'row' if tag == 'td' else 'col'}>{text(first)}"
    cells += f" <small>{below}</small></th>" if labels else "</th>"
    for title, cell, kind in zip(table.header[table.labels :], row[table.labels :], classes, strict=True):
        # Narrow screens show the column's title next to each number.
        titled = f' data-title="{text(title)}"' if cell != MISSING else ""
        cells += f"<{tag}{kind}{titled}>{text(cell)}</{tag}>"
    return f"<tr data-kind={table.kind(row)}>{cells}</tr>"


# Figures

PIXELS = 96  # CSS pixels per inch
SMALLEST, LARGEST = 0.8, 1.4  # limits on the scale of a figure, which scrolls on narrower screens
HEIGHT, FITS = 2.7, 8  # a panel's height in inches, and the number of words that it has room for


def figure_html(plot: Plot) -> str:
    """Return a plot with its title and its caption."""
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{text(plot.title)}</h3>\n{image_html(plot.figure, plot.title)}\n'
        f"<figcaption><p>{text(plot.caption)}</p>"
        f"<p>Files: <code>figures/{text(files)}</code></p></figcaption></figure>"
    )


def image_html(figure: Figure, title: str) -> str:
    """Return a figure as an image, whose colours are inverted in dark mode."""
    data = base64.b64encode(svg_of(figure).encode()).decode()
    width = PIXELS * figure.get_figwidth()
    limits = f"min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px"
    source = f"data:image/svg+xml;base64,{data}"
    return scroll(title, f'<img class=drawn alt="{text(title)}" style="{limits}" src="{source}">')


def panels_html(
    title: str,
    panels: Sequence[tuple[str, T]],
    draw: Callable[[Axes, T], None],
    grid: tuple[int, float] = (3, HEIGHT),
    width: float = FULL,
) -> str:
    """Draw panels as an image whose letters, of any script, come from the reader's fonts."""
    with warnings.catch_warnings(), rc_context({"svg.fonttype": "none"}):
        warnings.filterwarnings("ignore", "Glyph")
        return image_html(small_multiples(title, panels, draw, grid, width=width), title)


# Results of inspecting several models side by side

LIVE_BOX = "<div class=live>"
LIVE_LETTERS = 2_000_000  # maximum total length of the weights stored in a page
Looks = Sequence[tuple[str, Look]]  # titles of models, and the results of inspecting them


def look_html(looks: Looks) -> str:
    """Return all parts with content, each under a heading."""
    sections = look_sections(looks) if looks else {}
    return "\n".join(f"<h3>{name}</h3>\n{body}" for name, body in sections.items() if body)


def look_sections(looks: Looks) -> dict[str, str]:
    """Return each part's content by title; "" if no model provides it."""
    return {
        "Fill a mask": _live(looks),
        "Alignment": _alignment(looks),
        "Embedding map": _maps(looks),
        "Left out": items(list(dict.fromkeys(note for _, look in looks for note in look.left_out))),
    }


def _live(looks: Looks) -> str:
    """Return a box that computes models' guesses in the reader's browser; "" if no model provides weights."""
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
        f"one word to see its nearest words. The page computes both{scope}, with weights in half "
        f"precision.</p>\n<p><label>Language <select>{options}</select></label> <label>Sentence <input "
        f"type=text spellcheck=false></label></p>\n{scroll('Guesses or nearest words', '<table></table>')}"
        "<p><output></output></p><noscript><p>Guesses are computed by a script.</p></noscript>"
        f'<script type="application/json">{data}</script></div>'
    )


def _alignment(looks: Looks) -> str:
    """Return heat maps of cosines between words; "" if no model provides one."""
    panels = [(name, look.alignment) for name, look in looks if look.alignment]
    if not panels:
        return ""
    pair, title = panels[0][1].pair, "Centred cosines between the hidden states of words"
    summaries = [f"{name}, after layer {alignment.layer}: {alignment.summary}." for name, alignment in panels]
    scale = max(1, len(pair.source) / FITS, len(pair.words) / FITS)
    grid, width = (3, HEIGHT * scale), FULL * scale
    return (
        "<p>Boxes mark counterparts; dots mark links, extracted by the default method of <code>calque "
        f"align</code>.</p>{panels_html(title, panels, _draw_alignment, grid, width=width)}{items(summaries)}"
    )


def _draw_alignment(axes: Axes, alignment: Alignment) -> None:
    """Draw cosines, with a dot for each link and a box for each pair of counterparts."""
    axes.imshow(alignment.cosines, cmap="Blues", vmin=0, vmax=1.4)
    for (i, j), cosine in np.ndenumerate(alignment.cosines):
        dot = "●" if (i, j) in alignment.links else ""
        axes.annotate(f"{dot}{cosine:.1f}", (j, i), ha="center", va="center", fontsize=6)
    for i, j in alignment.pair.links:
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, color=LOOKS[3][0]))
    axes.set_xticks(range(len(alignment.pair.words)), map(visible, alignment.pair.words), rotation=90)
    axes.set_yticks(range(len(alignment.pair.source)), map(visible, alignment.pair.source))
    axes.grid(False)


def _maps(looks: Looks) -> str:
    panels = [(f"{name}, before training", look.before) for name, look in looks if look.before][:1]
    panels += [(name, look.map) for name, look in looks if look.map]
    if not panels:
        return ""
    return (
        "<p>Lines join words and their images: the first two principal components of their normalised "
        f"embeddings.</p>{panels_html('Frequent words (blue) and their images (orange)', panels, _draw_map)}"
        f"{items([f'{name}: {embedding.summary}.' for name, embedding in panels])}"
    )


def _draw_map(axes: Axes, embedding_map: EmbeddingMap) -> None:
    for (word, _), ends in zip(embedding_map.words, embedding_map.places, strict=True):
        axes.plot(*ends.T, color=SOFT, linewidth=0.6, zorder=1)
        axes.annotate(visible(word), ends[0], (0, 3), textcoords="offset points", ha="center", fontsize=6)
    for side, (colour, marker) in enumerate((LOOKS[0], LOOKS[3])):
        axes.plot(
            *embedding_map.places[:, side].T, color=colour, marker=marker, linestyle="none", markersize=3
        )
    axes.set(xticks=[], yticks=[])
