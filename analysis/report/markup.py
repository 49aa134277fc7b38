"""Text, lists and colours in HTML."""

import json
from collections.abc import Sequence
from colorsys import hls_to_rgb, rgb_to_hls
from functools import cache
from html import escape
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from calque.analysis.report.table import visible

PAPER, INK = "#15191c", "#f2f5f7"  # in dark mode: the background, and the colour that replaces black
CONTRAST = 4.0  # minimum contrast of a colour with the background
GREY = 0.15  # colours with a lower saturation count as grey


def text(words: str) -> str:
    """Words as the text of an element or the value of a quoted attribute."""
    return escape(visible(words))


def script_json(data: Any) -> str:
    """JSON that ends no script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def items(words: Sequence[str], kind: str = "items") -> str:
    """A list; nothing if it is empty."""
    return f"<ul class={kind}>" + "".join(f"<li>{text(item)}</li>" for item in words) + "</ul>" if words else ""


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Terms with their definitions; nothing if there are none."""
    return "<dl>" + "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in pairs) + "</dl>" if pairs else ""


def details(summary: str, body: str) -> str:
    """A part that the reader opens."""
    return f"<details><summary>{text(summary)}</summary>{body}</details>"


@cache
def themed(colour: str) -> str:
    """A colour for the light and the dark mode: greys are inverted, and others lightened until they stand out."""
    red, green, blue = to_rgb(colour)
    hue, light, saturation = rgb_to_hls(red, green, blue)
    if max(red, green, blue) - min(red, green, blue) < GREY:
        ends = zip(to_rgb(PAPER), to_rgb(INK), strict=True)
        red, green, blue = (light * paper + (1 - light) * ink for paper, ink in ends)
        dark = to_hex((red, green, blue))
    else:
        dark = to_hex(colour)
        while contrast(dark, PAPER) < CONTRAST:
            light += 0.01
            dark = to_hex(hls_to_rgb(hue, light, saturation))
    return f"light-dark({to_hex(colour)},{dark})"


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
