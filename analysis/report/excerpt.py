"""The beginning of a preview, in whole examples."""

from __future__ import annotations

import re

LINES = 60
"""As many as fit on a screen or two."""


def excerpt(text: str, lines: int = LINES) -> str:
    """The first numbered examples of a preview that fit in `lines` lines, one at least, and how many are left out.

    An example begins with its number and a dot at the start of a line.
    """
    parts = re.split(r"^(?=\d+\.)", text, flags=re.MULTILINE)
    kept, rest = parts[:2], parts[2:]
    while rest and sum(part.count("\n") for part in [*kept, rest[0]]) <= lines:
        kept.append(rest.pop(0))
    shown = "".join(kept).rstrip() + "\n"
    return shown + (f"\n{len(rest):,} more in the preview\n" if rest else "")
