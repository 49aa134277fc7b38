"""The one error that a user's input can cause."""

from pathlib import Path

LONGEST = 600
"""Letters of a message at most: input that it quotes may be of any length."""


class BadInput(Exception):
    """Input that cannot be used: the place, what was found and what was expected.

    The command line prints it as one line and leaves with exit code 2; nothing else is caught.
    """

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        if len(message) > LONGEST:
            half = LONGEST // 2
            message = f"{message[:half]} ... {message[-half:]}"
        super().__init__(place + message)


class NoFile(BadInput):
    """A file that is not there; `path` is where it was expected."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        super().__init__(message, path, line)
        self.path = path
