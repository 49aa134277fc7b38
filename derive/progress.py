"""Progress reports of long computations."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with a title, the number of steps done and the number of steps."""


def silent(what: str, done: int, of: int) -> None:
    """Show no progress."""
