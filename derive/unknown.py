"""What is said of a name that nothing has: what was meant, perhaps, and what there is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 60
"""Characters of what a person wrote that an error repeats."""


def shown(text: str) -> str:
    """The text in quotes, as an error repeats it: its beginning, if it is long."""
    if len(text) <= LONGEST:
        return repr(text)
    return f"{text[:LONGEST]!r}... ({len(text):,} characters)"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean NAME?`, or the empty string where nothing known is like it; upper and lower case are alike."""
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(name[:LONGEST].lower(), lower, n=1)
    return f"did you mean {lower[near[0]]}?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str], described: Iterable[str] = ()) -> str:
    """One line about an unknown name; `described` are the known ones as people should read them."""
    known = list(known)
    near = nearest(name, known)
    there_are = f"there are {', '.join(described or known)}"
    return f"no {kind} is called {shown(name)}; {f'{near} ' if near else ''}{there_are}"
