"""Facts of a report: values by their names, and what computed them."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy")


def listed(values: Mapping[str, Any]) -> str:
    """`layers 2, heads 4`; of which kind the values are goes without saying."""
    return ", ".join(f"{key} {value}" for key, value in values.items() if key != "kind")


def counted(number: int, one: str) -> str:
    """`1 model`, `12 models`."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def computed_with(threads: int, device: str = "", more: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The machine, and the versions of libraries; `more` are needed beside those that every study needs."""
    parts = (platform.machine(), device, f"{threads} thread(s) a model")
    return [
        ("Machine", ", ".join(filter(None, parts))),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in (*LIBRARIES, *more))),
    ]
