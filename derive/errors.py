"""The one error that a user's input can cause, and what it says of a name that does not exist."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST = 600  # characters of a message at most: input that it quotes may be of any length
LONGEST_NAME = 60  # characters of a name that an error repeats


class BadInput(Exception):
    """Input that cannot be used: the place, what was found and what was expected. Whatever reads or checks input may
    raise it, so docstrings seldom say so. The command line prints each of `messages` on a line of its own and leaves
    with exit code 2; nothing else is caught."""

    def __init__(self, message: str | Sequence[str], path: str | Path | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        several = [message] if isinstance(message, str) else message
        self.messages = tuple(place + _shortened(each) for each in several)
        super().__init__("; ".join(self.messages))


def _shortened(message: str) -> str:
    half = LONGEST // 2
    return message if len(message) <= LONGEST else f"{message[:half]} ... {message[-half:]}"


class NoFile(BadInput):
    """A file that is not there; `path` is where it was expected."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        super().__init__(message, path, line)
        self.path = path


def shown(text: str) -> str:
    """The text in quotes, as an error repeats it: its beginning, if it is long."""
    if len(text) <= LONGEST_NAME:
        return repr(text)
    return f"{text[:LONGEST_NAME]!r}... ({len(text):,} characters)"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean NAME?`, or the empty string where nothing known is like it; upper and lower case are alike."""
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(name[:LONGEST_NAME].lower(), lower, n=1)
    return f"did you mean {lower[near[0]]}?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str], described: Iterable[str] = ()) -> str:
    """One line about an unknown name; `described` are the known ones as people should read them."""
    known = list(known)
    near = nearest(name, known)
    there_are = f"there are {', '.join(described or known)}"
    return f"no {kind} is called {shown(name)}; {f'{near} ' if near else ''}{there_are}"
