"""Looks into checkpoints as parts of a page, models side by side: tables, matrices, a map, and a field to try them."""

import json
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from calque.analysis.looking.parts import Derivation, Look
from calque.analysis.report.html_table import table_html
from calque.analysis.report.markup import items, text
from calque.analysis.report.sentence_figure import Example, Image, example_html
from calque.analysis.report.table import MISSING, Table

LIVE_BOX = "<div class=live>"
LIVE_LETTERS = 2_000_000  # maximum length of all models' weights in a page
SIZE, MARGIN = (420, 320), (44, 16)  # of a map in pixels
Looks = Sequence[tuple[str, Look]]


def look_html(looks: Looks) -> str:
    """The parts, each under a heading; empty without looks."""
    if not looks:
        return ""
    return "\n".join(f"<h3>{name}</h3>\n{body}" for name, body in look_sections(looks).items() if body)


def look_sections(looks: Looks) -> dict[str, str]:
    """The body of each part by its title; empty if no model has it."""
    return {
        "Fill a mask": _live(looks),
        "Guesses": _guesses(looks),
        "Nearest words": _nearest(looks),
        "Alignment": _alignment(looks),
        "Embedding map": _map(looks),
        "Attention": _attention(looks),
        "Left out": items(list(dict.fromkeys(note for _, look in looks for note in look.left_out))),
    }


def _live(looks: Looks) -> str:
    """The input fields of `live.js`, with the data of the small models that share a vocabulary."""
    models, letters, shared = list[dict[str, Any]](), 0, dict[str, Any]()
    for title, look in looks:
        words = dict(look.live or {})
        own = {name: words.pop(name, "") for name in ("shape", "weights")}
        letters += len(own["weights"])
        if words and words == (shared or words) and letters <= LIVE_LETTERS:
            shared = words
            models.append({"title": title, **own})
    if not models:
        return ""
    data = json.dumps({**shared, "models": models}, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    options = "".join(f"<option>{text(language)}</option>" for language in shared["types"])
    return (
        f"{LIVE_BOX}<p>Type a sentence with one <code>{text(shared['mask'][0])}</code> to see guesses, or one word to "
        "see its nearest words. The page computes both, with weights in half precision.</p>\n"
        f"<p><label>Language <select>{options}</select></label> <label>Sentence <input type=text spellcheck=false>"
        "</label></p>\n"
        "<div class=scroll tabindex=0 role=region aria-label='Guesses or nearest words'><table></table></div>"
        f"<p><output></output></p><noscript><p>Guesses are computed by a script.</p></noscript>"
        f'<script type="application/json">{data}</script></div>'
    )


def _guesses(looks: Looks) -> str:
    """One table per language: a row for each masked word, and a column for each model."""
    (_, first), *_ = looks
    known = [
        {(blank.language, blank.place): ", ".join(look.guessed(blank)) for blank in look.blanks} for _, look in looks
    ]
    parts = []
    for language, blanks in groupby(first.blanks, key=lambda blank: blank.language):
        rows = tuple(
            (first.glossed(blank.word), *(of.get((language, blank.place), MISSING) for of in known)) for blank in blanks
        )
        title = f"Guesses for each masked word of the sentence in {language}, in percent"
        table = Table(title, ("masked word", *(name for name, _ in looks)), rows)
        parts.append(f"<p>{text(title)}.</p>{table_html(table, f'guesses-{language}', whole=False)}")
    return "".join(parts)


def _nearest(looks: Looks) -> str:
    (_, first), *_ = looks
    rows = tuple(
        (first.glossed(each.word), each.language, *(", ".join(look.near(look.neighbours[place])) for _, look in looks))
        for place, each in enumerate(first.neighbours)
    )
    title = "Nearest words by the cosine of embeddings"
    table = Table(title, ("word", "neighbours in", *(name for name, _ in looks)), rows, labels=2)
    return f"<p>{title}.</p>{table_html(table, 'nearest', whole=False)}" if rows else ""


def _alignment(looks: Looks) -> str:
    """The sentence above its derivation, then a matrix for each model."""

    def draw(look: Look, pair: Derivation) -> str:
        if look.alignment is None:
            return ""
        label = f"Cosines after layer {look.alignment.layer}"
        matrix = _matrix(pair, look.alignment.cosines, label, look.alignment.links)
        return f"{matrix}<p class=note>{label}: {look.alignment.summary(pair)}.</p>"

    (_, first), *_ = looks
    if first.derivation is None or not (boxes := _boxes(looks, draw)):
        return ""
    pair = first.derivation
    image = Image(pair.language, pair.words, pair.origin)
    return (
        example_html(Example(pair.source, pair.source, (image,)), legend=False)
        + "<p>Centred cosines between the hidden states of words. Boxes mark counterparts; dots mark links, "
        f"extracted by the default method of <code>calque align</code>.</p>{boxes}"
    )


def _attention(looks: Looks) -> str:
    def draw(look: Look, pair: Derivation) -> str:
        layers = enumerate(look.attention if look.attention is not None else (), start=1)
        return "".join(
            f"{_matrix(pair, shares / shares.max(), f'Attention in layer {layer}')}<p class=note>Layer {layer}: "
            f"{100 * shares.sum(1).mean():.0f} % of a word’s attention is on the derivation.</p>"
            for layer, shares in layers
        )

    boxes = _boxes(looks, draw)
    return boxes and (
        "<p>Attention from each word of the sentence (left) to each word of its derivation, with both in one row: the "
        "mean over heads, relative to the largest share. Objectives such as MLM see no such rows in training.</p>"
        f"{boxes}"
    )


def _map(looks: Looks) -> str:
    def draw(look: Look, pair: Derivation) -> str:
        if look.map is None:
            return ""
        low, high = look.map.places.min((0, 1)), look.map.places.max((0, 1))
        places = MARGIN + (look.map.places - low) / (high - low) * (np.array(SIZE) - 2 * np.array(MARGIN))
        places[..., 1] = SIZE[1] - places[..., 1]
        lines, dots, marks = [], [], []
        for words, ends in zip(look.map.words, places.round(1).tolist(), strict=True):
            (x, y), (u, v) = ends
            lines.append(f'<path d="M{x} {y}L{u} {v}"/><text x="{x}" y="{y - 5}">{text(words[0])}</text>')
            for kind, word, (a, b) in zip(("source", "image"), words, ends, strict=True):
                dots.append(f'<circle class={kind} cx="{a}" cy="{b}" r="3"/>')
                title = f"<title>{text(look.glossed(word))}</title>"
                marks.append(f'<circle class=mark role=img cx="{a}" cy="{b}" r="6">{title}</circle>')
        label = f"Embeddings of {len(look.map.words)} words and their images"
        return (
            f'<figure class=map><svg viewBox="0 0 {SIZE[0]} {SIZE[1]}" role=group aria-label="{label}">'
            f"{''.join(lines + dots + marks)}</svg><figcaption>{look.map.summary}.</figcaption></figure>"
        )

    boxes = _boxes(looks, draw)
    return boxes and (
        "<p>Frequent words (blue) and their images (orange), joined by lines: the first two principal components of "
        f"their normalised embeddings.</p>{boxes}"
    )


def _boxes(looks: Looks, draw: Callable[[Look, Derivation], str]) -> str:
    """A box for each model that has the part; nothing if none has it."""
    drawn = [(name, draw(look, look.derivation)) for name, look in looks if look.derivation]
    boxes = "".join(f"<div><p><b>{text(name)}</b></p>{body}</div>" for name, body in drawn if body)
    return f"<div class=looks>{boxes}</div>" if boxes else ""


def _matrix(pair: Derivation, values: np.ndarray, label: str, links: Collection[tuple[int, int]] = ()) -> str:
    """Values (n, m) up to 1 as shades; gold links have a border, and `links` a dot."""
    gold = {*pair.links}
    heads = "".join(f'<th scope="col">{text(word)}</th>' for word in pair.words)
    rows = []
    for i, (word, row) in enumerate(zip(pair.source, values.tolist(), strict=True)):
        cells = (
            f'<td{" class=gold" if (i, j) in gold else ""} style="--s:{100 * max(value, 0):.0f}%">'
            + f"{'●' if (i, j) in links else ''}{value:.2f}</td>".replace("-", "−")
            for j, value in enumerate(row)
        )
        rows.append(f'<tr><th scope="row">{text(word)}</th>{"".join(cells)}</tr>')
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{text(label)}"><table class=matrix><thead><tr><td></td>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
