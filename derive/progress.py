"""How a long piece of work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many steps are behind, and how many there are."""


def silent(what: str, done: int, of: int) -> None:
    """Show no progress."""
