"""Libraries that are slow to import, imported only on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Lazy:
    """A module that is imported when one of its attributes is first accessed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


special: Any = Lazy("scipy.special")
stats: Any = Lazy("scipy.stats")
