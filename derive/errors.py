"""The exception for unusable input, and messages about numbers and unknown names."""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

LONGEST = 600  # maximum characters of a message, which may quote input of any length
LONGEST_NAME = 60  # maximum characters of a name in a message


class BadInput(Exception):
    """Unusable input: where it is, what is wrong and what is expected. The command line prints `messages`,
    one per line, and exits with status 2."""

    exit_code = 2

    def __init__(
        self,
        message: str | Sequence[str],
        path: str | Path | None = None,
        line: int | None = None,
    ) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        several = [message] if isinstance(message, str) else message
        self.path = path
        self.messages = tuple(place + _shortened(text) for text in several)
        super().__init__("; ".join(self.messages))


def _shortened(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


class Unfinished(BadInput):
    """Steps that failed while others continued, one message each."""

    exit_code = 1


class NoFile(BadInput):
    """A missing file; `path` is where it was expected."""


def check_range(what: str, value: float, least: float, most: float = math.inf) -> None:
    """Raise BadInput unless `value` is between `least` and `most`; `what` names it in the message."""
    if not least <= value <= most:
        limits = f"at least {least:,}" if most == math.inf else f"from {least:,} to {most:,}"
        raise BadInput(f"{what} must be {limits}, not {value:,}")


def excluded(counts: Mapping[str, int]) -> str:
    """Return the end of a message that counts exclusions, such as `; left out: 3 blank lines`, or ""."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
    return f"; left out: {reasons}" if reasons else ""


def shown(text: str) -> str:
    """Quote a text for a message, shortened if it is long."""
    if len(text) <= LONGEST_NAME:
        return repr(text)
    return f"{text[:LONGEST_NAME]!r}... ({len(text):,} characters)"


def printable(text: str) -> str:
    """Escape all control characters except line breaks, so that a terminal shows the text literally."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `did you mean NAME?`, ignoring case, or an empty string if no known name is similar."""
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(name[:LONGEST_NAME].lower(), lower, n=1)
    return f"did you mean {lower[near[0]]}?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str], described: Iterable[str] = ()) -> str:
    """Return a message about an unknown name, with the nearest known name, or all. `described` lists names
    with a description in brackets."""
    names, descriptions = list(known), list(described)
    near = nearest(name, names)
    for each in descriptions:
        short, bracket, forms = each.partition(" (")
        if near == f"did you mean {short}?":
            near += bracket + forms
            break
    there_are = f"there are {', '.join(descriptions or names)}"
    return f"no {kind} is called {shown(name)}; {near or there_are}"
