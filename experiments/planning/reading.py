"""How often a run would read each text, when rows are drawn by the sizes of texts with an exponent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """A text of `bytes`, estimated at `ids`, of which a run draws `drawn`, the share `share` of all that it draws."""

    name: str
    bytes: float
    ids: float
    share: float
    drawn: float

    @property
    def epochs(self) -> float:
        """How many times the whole text is read; infinite where there is a share, and no text."""
        return self.drawn / self.ids if self.ids else float("inf")


def readings(
    sizes: Mapping[str, float], bytes_an_id: Mapping[str, float], exponent: float, drawn: float
) -> list[Reading]:
    """What a run of `drawn` ids reads of texts of `sizes` bytes, drawn with shares of size^exponent (XLM, section 3.1).

    A text without a byte has no share.
    """
    weights = {name: size**exponent if size else 0.0 for name, size in sizes.items()}
    total = sum(weights.values())
    return [
        Reading(name, sizes[name], sizes[name] / bytes_an_id[name], weight / total, drawn * weight / total)
        for name, weight in weights.items()
    ]
