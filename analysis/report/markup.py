"""Text, lists and colours in HTML."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from matplotlib.colors import to_hex

from calque.analysis.report.table import visible

GREY = 38  # colours whose parts differ by less count as grey


def text(words: str) -> str:
    """Words as the text of an element or the value of a quoted attribute."""
    return escape(visible(words))


def script_json(data: Any) -> str:
    """JSON that ends no script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def items(words: Sequence[str], kind: str = "items") -> str:
    return f"<ul class={kind}>" + "".join(f"<li>{text(item)}</li>" for item in words) + "</ul>" if words else ""


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{text(k)}</dt><dd>{text(v)}</dd>" for k, v in pairs) + "</dl>" if pairs else ""


def details(summary: str, body: str) -> str:
    return f"<details><summary>{text(summary)}</summary>{body}</details>"


@cache
def themed(colour: str) -> str:
    """A colour for the light and the dark mode, in which greys are inverted and others are lighter."""
    shown = to_hex(colour)
    parts = [int(shown[i : i + 2], 16) for i in (1, 3, 5)]
    dark = f"color-mix(in srgb, {shown}, white 30%)"
    if shown == "#ffffff":
        dark = "var(--paper)"
    elif max(parts) - min(parts) < GREY:
        dark = "#" + "".join(f"{255 - part:02x}" for part in parts)
    return f"light-dark({shown},{dark})"
