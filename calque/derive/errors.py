"""Exceptions for invalid input, and their messages."""

import difflib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

LONGEST = 600  # maximum length of a message in characters; messages may quote input of any length
LONGEST_NAME = 60  # maximum length of a name in a message, in characters


class BadInput(Exception):
    """Invalid input: one or several messages, and optionally a file and a line. The exit code is 2."""

    @property
    def path(self) -> str | Path | None:
        return self.args[1] if self.args[1:] else None

    @property
    def messages(self) -> list[str]:
        message, path, line = (*self.args, None, None)[:3]
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        return [place + _shortened(text) for text in ([message] if isinstance(message, str) else message)]

    def __str__(self) -> str:
        return "; ".join(self.messages)


def _shortened(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


class NoFile(BadInput):
    """A file is missing; `path` is its expected location."""


def check_range(what: str, value: float, least: float, most: float = math.inf) -> None:
    """Raise BadInput unless the value called `what` is between `least` and `most`."""
    if not least <= value <= most:
        limits = f"at least {least:,}" if most == math.inf else f"from {least:,} to {most:,}"
        raise BadInput(f"{what} must be {limits}, not {value:,}")


def excluded(counts: Mapping[str, int]) -> str:
    """Return a suffix such as `; left out: 3 blank lines`, or ""."""
    return f"; left out: {listed(counts)}" if any(counts.values()) else ""


def listed(counts: Mapping[str, int]) -> str:
    """List reasons with their counts: `3 blank lines, 1 comments`."""
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)


def shown(text: str) -> str:
    """Quote a string, truncated if it is long."""
    if len(text) <= LONGEST_NAME:
        return repr(text)
    return f"{text[:LONGEST_NAME]!r}... ({len(text):,} characters)"


def printable(text: str) -> str:
    """Escape control characters except line breaks."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return `did you mean NAME?` with the most similar name, ignoring case, or ""."""
    lower = {name.lower(): name for name in candidates}
    matches = difflib.get_close_matches(name[:LONGEST_NAME].lower(), lower, n=1)
    return f"did you mean {lower[matches[0]]}?" if matches else ""


def unknown(kind: str, name: str, candidates: Iterable[str]) -> str:
    """Return a message about an unknown name, with the most similar known name or all of them."""
    names = list(candidates)
    hint = nearest(name, names) or f"available: {', '.join(names) or 'none'}"
    return f"no {kind} is called {shown(name)}; {hint}"
