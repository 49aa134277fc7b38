"""Draw a sentence above its derivation, with words coloured by class and lines between counterparts."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from calque.analysis.looking import Derivation
from calque.analysis.report.drawing import LOOKS
from calque.analysis.report.html import text, themed

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
    colours = {name: colour for name, (colour, _) in zip(names, LOOKS, strict=False)}
    chosen = [themed(colours.get(name, OTHER)) for name in example.classes]
    drawn = "".join(
        _drawing(image, chosen or [themed(OTHER)] * len(image.source)) for image in example.images
    )
    classes = "".join(f'<li style="--c:{themed(colours.get(n, OTHER))}">{text(n)}</li>' for n in names)
    below = f'<ul class=classes aria-label="Word classes">{classes}</ul>' if classes and legend else ""
    return f"<div class=sentences>{drawn}</div>{below}"


def _drawing(image: Derivation, colours: Sequence[str]) -> str:
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
