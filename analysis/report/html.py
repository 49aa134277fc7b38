"""Text, tables, figures, derived sentences and colours in HTML."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from matplotlib.colors import to_hex

from calque.analysis.looking import Derivation
from calque.analysis.report.drawing import LOOKS, Plot, svg_of
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, numeric, visible

GREY = 38  # a colour is treated as grey if its channels differ by less than this


def text(words: str) -> str:
    """Escape text for use in an element or a quoted attribute."""
    return escape(visible(words))


def script_json(data: Any) -> str:
    """Return JSON that is safe inside a script element."""
    encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return encoded.replace("<", "\\u003c")


def items(words: Sequence[str], kind: str = "items") -> str:
    """Return a list, or "" without items."""
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


# Tables

WIDE = 8  # tables with at least this many columns are printed in landscape


def table_html(table: Table, name: str) -> str:
    """Return a table with its title and note; `name` is its file's name."""
    hidden, classes = _outside(table), []
    for column in table.columns[table.labels :]:
        classes.append("" if numeric(column) else " class=words")
    head = _label(table, table.header, "col")
    for cell, kind in zip(table.header[table.labels :], classes, strict=True):
        head += f'<th scope="col"{kind}>{text(cell)}</th>'
    rows = "\n".join(_row(table, row, classes) for row in table.rows if row not in hidden)
    more = f"The CSV has {len(hidden)} more published rows, from outside this study." if hidden else ""
    note = text(" ".join(filter(None, (table.note, more))))
    body = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    return (
        f'<div class="data {"wide" if len(classes) >= WIDE else "narrow"}">'
        f'<h3 id="data-{text(name)}">{text(table.title)}</h3>\n{scroll(table.title, body)}'
        f"{f'<p class=note>{note}</p>' if note else ''}</div>"
    )


def _outside(table: Table) -> list[tuple[str, ...]]:
    """Return the published rows for settings that the study lacks, unless it lacks all of them."""
    published, ours = dict[tuple[str, ...], tuple[str, ...]](), set[tuple[str, ...]]()
    for row in table.rows:
        setting = tuple(label for label in row[: table.labels] if label not in (OURS, PUBLISHED))
        if table.kind(row) == PUBLISHED:
            published[row] = setting
        elif table.kind(row) == OURS:
            ours.add(setting)
    outside = [row for row, setting in published.items() if setting not in ours]
    return outside if len(outside) < len(published) else []


def _label(table: Table, row: tuple[str, ...], scope: str) -> str:
    first, *others = row[: table.labels]
    below = text(" · ".join(other for other in others if other != MISSING))
    return f'<th scope="{scope}">{text(first)}{f" <small>{below}</small>" if others else ""}</th>'


def _row(table: Table, row: tuple[str, ...], classes: list[str]) -> str:
    cells = _label(table, row, "row")
    for title, cell, kind in zip(table.header[table.labels :], row[table.labels :], classes, strict=True):
        # Narrow screens show the column's title next to each number.
        titled = "" if cell == MISSING else f' data-title="{text(title)}"'
        cells += f"<td{kind}{titled}>{text(cell)}</td>"
    return f"<tr data-kind={table.kind(row)}>{cells}</tr>"


# Figures

PIXELS = 96 / 72  # CSS pixels per point
SMALLEST, LARGEST = 0.8, 1.4  # limits on the scale of a figure, which scrolls on narrower screens


def figure_html(plot: Plot) -> str:
    """Return a plot with its title and its caption."""
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png", "jsonl"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{text(plot.title)}</h3>\n{scroll(plot.title, _element(plot))}\n'
        f"<figcaption><p>{text(plot.caption)}</p>"
        f"<p>Files, with every record: <code>figures/{text(files)}</code></p></figcaption></figure>"
    )


def _element(plot: Plot) -> str:
    svg = svg_of(plot.figure)
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
    width = PIXELS * float(box.split()[2])
    return (
        f'<svg class=drawn viewBox="{box}" role=img aria-label="{text(plot.title)}" stroke-linejoin="round" '
        f'style="min-width:{SMALLEST * width:.0f}px;max-width:{LARGEST * width:.0f}px">{body}</svg>'
    )


def _shortened(found: re.Match[str]) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", found[0]).replace("\n", " ")


# A sentence above its derivation, with words coloured by class and lines between counterparts

LETTER, PADDING, BETWEEN = (9.2, 14.0, 6.0)  # widths in pixels of a letter, of padding and of gaps
BOX, LINES, NAME = 28, 44, 20  # heights in pixels of a box, the lines between words, and a language's name
OTHER = "#8c8c8c"  # the colour of words without a class, and of classes beyond the palette


@dataclass(frozen=True)
class Example:
    """A sentence's derivations in several languages, and the class of each source word, if known."""

    images: tuple[Derivation, ...]
    classes: tuple[str, ...] = ()


def example_html(example: Example, legend: bool = True) -> str:
    """Return one drawing per derivation and, with `legend`, a legend of the classes' colours."""
    names = list(dict.fromkeys(example.classes))
    colours = {name: themed(colour) for name, (colour, _) in zip(names, LOOKS, strict=False)}
    drawn = ""
    for image in example.images:
        words = [colours.get(name, themed(OTHER)) for name in example.classes]
        drawn += _sentence(image, words or [themed(OTHER)] * len(image.source))
    classes = "".join(f'<li style="--c:{colours.get(n, themed(OTHER))}">{text(n)}</li>' for n in names)
    below = f'<ul class=classes aria-label="Word classes">{classes}</ul>' if classes and legend else ""
    return f"<div class=sentences>{drawn}</div>{below}"


def _sentence(image: Derivation, colours: Sequence[str]) -> str:
    below = BOX + LINES
    top, bottom = _places(image.source), _places(image.words)
    width = max(top[-1][1], bottom[-1][1]) + 4
    parts = []
    for i, j in sorted(image.links, key=lambda link: link[1]):
        line = f"M{sum(top[i]) / 2:.0f} {NAME + BOX}L{sum(bottom[j]) / 2:.0f} {NAME + below}"
        parts.append(f'<path d="{line}" style="stroke:{colours[i]}"/>')
    for word, place, colour in zip(image.source, top, colours, strict=True):
        parts.append(_box(word, place, NAME, colour))
    for word, place, origin in zip(image.words, bottom, image.origin, strict=True):
        parts.append(_box(word, place, NAME + below, colours[origin]))
    height = 2 * NAME + below + BOX
    label = f"{' '.join(image.source)}; in {image.language}: {' '.join(image.words)}"
    return (
        f'<svg role=img viewBox="-2 0 {width:.0f} {height}" style="max-width:{width:.0f}px" '
        f'aria-label="{text(label)}"><text class=name y="13">the source</text>{"".join(parts)}'
        f'<text class=name y="{height - 4}">{text(image.language)}</text></svg>'
    )


def _box(word: str, place: tuple[float, float], top: float, colour: str) -> str:
    left, right = place
    return (
        f'<rect x="{left:.0f}" y="{top}" width="{right - left:.0f}" height="{BOX}" rx="5" '
        f'style="fill:{colour};stroke:{colour}"/>'
        f'<text class=word x="{(left + right) / 2:.0f}" y="{top + 19}">{text(word)}</text>'
    )


def _places(words: Sequence[str]) -> list[tuple[float, float]]:
    places, left = [], 0.0
    for word in words:
        right = left + PADDING + LETTER * max(1, sum(map(_columns, word)))
        places.append((left, right))
        left = right + BETWEEN
    return places


def _columns(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
