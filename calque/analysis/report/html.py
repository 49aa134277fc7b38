"""Text, tables, figures and inspected models in HTML."""

import base64
import json
import warnings
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, TypeVar

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from calque.analysis.looking import Alignment, EmbeddingMap, Look
from calque.analysis.report.drawing import FULL, LOOKS, SOFT, Plot, small_multiples, svg_of
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, numeric, visible

T = TypeVar("T")


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
    notice = f"The CSV has {len(hidden)} more published rows, from outside this study." if hidden else ""
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
    files = ", ".join(f"{plot.name}.{end}" for end in ("svg", "png", "jsonl"))
    return (
        f'<figure><h3 id="{text(plot.name)}">{text(plot.title)}</h3>\n{image_html(plot.figure, plot.title)}\n'
        f"<figcaption><p>{text(plot.caption)}</p>"
        f"<p>Files, with every record: <code>figures/{text(files)}</code></p></figcaption></figure>"
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
