"""The one error that a user's input can cause."""

from pathlib import Path


class BadInput(Exception):
    """Input that cannot be used: says where, what was found and what was expected.

    The command line prints it as one line and leaves with exit code 2; nothing else is caught.
    """

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)
