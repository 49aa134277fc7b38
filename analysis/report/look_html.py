"""Show the results of inspecting several models side by side in HTML."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from calque.analysis.looking import Derivation, EmbeddingMap, Look
from calque.analysis.report.html import Example, example_html, items, script_json, scroll, text

LIVE_BOX = "<div class=live>"
LIVE_LETTERS = 2_000_000  # maximum total length of the weights stored in a page
SIZE, MARGIN = (420, 320), (44, 16)  # size and margins of an embedding map, in pixels
LETTER, LINE = 5.0, 11.0  # width and height in pixels of a letter in an embedding map
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
    of = f" for {len(models)} of {len(looks)} models" if len(models) < len(looks) else ""
    options = "".join(f"<option>{text(language)}</option>" for language in shared["types"])
    return (
        f"{LIVE_BOX}<p>Type a sentence with one <code>{text(shared['mask'][0])}</code> to see guesses, or "
        f"one word to see its nearest words. The page computes both{of}, with weights in half "
        f"precision.</p>\n<p><label>Language <select>{options}</select></label> <label>Sentence <input "
        f"type=text spellcheck=false></label></p>\n{scroll('Guesses or nearest words', '<table></table>')}"
        "<p><output></output></p><noscript><p>Guesses are computed by a script.</p></noscript>"
        f'<script type="application/json">{script_json({**shared, "models": models})}</script></div>'
    )


def _alignment(looks: Looks) -> str:
    drawn, pair = [], looks[0][1].derivation
    for name, look in looks:
        if look.derivation is not None and look.alignment is not None:
            label = f"Cosines after layer {look.alignment.layer}"
            matrix = _matrix(look.derivation, look.alignment.cosines, label, look.alignment.links)
            note = f"<p class=note>{label}: {look.alignment.summary(look.derivation)}.</p>"
            drawn.append((name, matrix + note))
    if pair is None or not drawn:
        return ""
    return (
        example_html(Example((pair,), pair.source), legend=False)
        + "<p>Centred cosines between the hidden states of words. Boxes mark counterparts; dots mark links, "
        f"extracted by the default method of <code>calque align</code>.</p>{_boxes(drawn)}"
    )


def _matrix(pair: Derivation, values: np.ndarray, label: str, links: Collection[tuple[int, int]]) -> str:
    """Draw values (n, m) as shaded cells; gold links have borders, and `links` have dots."""
    gold, rows = {*pair.links}, ""
    heads = "".join(f'<th scope="col">{text(word)}</th>' for word in pair.words)
    for i, (word, row) in enumerate(zip(pair.source, values.tolist(), strict=True)):
        rows += f'<tr><th scope="row">{text(word)}</th>'
        for j, value in enumerate(row):
            number = f"{'●' if (i, j) in links else ''}{value:.2f}".replace("-", "−")
            border, shade = " class=gold" if (i, j) in gold else "", f"--s:{100 * max(value, 0):.0f}%"
            rows += f'<td{border} style="{shade}">{number}</td>'
        rows += "</tr>"
    head = f"<thead><tr><td></td>{heads}</tr></thead>"
    return scroll(label, f"<table class=matrix>{head}<tbody>{rows}</tbody></table>")


def _maps(looks: Looks) -> str:
    starts: dict[bytes, list[tuple[str, Look, EmbeddingMap]]] = {}
    for name, look in looks:
        if look.before:
            starts.setdefault(look.before.places.tobytes(), []).append((name, look, look.before))
    drawn = []
    for same in starts.values():
        of = f": {'; '.join(name for name, *_ in same)}" if len(starts) > 1 else ""
        drawn.append((f"before training{of}", _map(*same[0][1:])))
    drawn += [(name, _map(look, look.map)) for name, look in looks if look.map]
    if not drawn:
        return ""
    return (
        "<p>Frequent words (blue) and their images (orange), joined by lines: the first two principal "
        f"components of their normalised embeddings.</p>{_boxes(drawn)}"
    )


def _map(look: Look, shown: EmbeddingMap) -> str:
    low, high = shown.places.min((0, 1)), shown.places.max((0, 1))
    places = MARGIN + (shown.places - low) / (high - low) * (np.array(SIZE) - 2 * np.array(MARGIN))
    places[..., 1] = SIZE[1] - places[..., 1]
    lines, dots, named = "", "", list[tuple[float, float, float]]()
    for words, ends in zip(shown.words, places.round(1).tolist(), strict=True):
        (x, y), (u, v) = ends
        lines += f'<path d="M{x} {y}L{u} {v}"/>'
        half = LETTER * len(words[0]) / 2
        if all(abs(x - a) > half + width or abs(y - b) > LINE for a, b, width in named):
            named.append((x, y, half))
            lines += f'<text x="{x}" y="{y - 5}">{text(words[0])}</text>'
        for kind, word, (a, b) in zip(("source", "image"), words, ends, strict=True):
            at, title = f'cx="{a}" cy="{b}"', text(look.glossed(word))
            dots += f'<circle class={kind} {at} r="3"/>'
            dots += f'<circle class=mark role=img {at} r="6"><title>{title}</title></circle>'
    label = f"Embeddings of {len(shown.words)} words and their images"
    return (
        f'<figure class=map><svg viewBox="0 0 {SIZE[0]} {SIZE[1]}" role=group aria-label="{label}">'
        f"{lines}{dots}</svg><figcaption>{shown.summary}.</figcaption></figure>"
    )


def _boxes(drawn: Iterable[tuple[str, str]]) -> str:
    boxes = "".join(f"<div><p><b>{text(name)}</b></p>{body}</div>" for name, body in drawn)
    return f"<div class=looks>{boxes}</div>"
