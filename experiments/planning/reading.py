"""How often a run would read each text, when rows are drawn with some shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def by_size(sizes: Mapping[str, float], exponent: float) -> dict[str, float]:
    """Weights in proportion to size^exponent (XLM, section 3.1); a text without a byte has none."""
    return {name: size**exponent if size else 0.0 for name, size in sizes.items()}


def readings(
    sizes: Mapping[str, float], ids: Mapping[str, float], weights: Mapping[str, float], drawn: float
) -> list[Reading]:
    """What a run of `drawn` ids reads of texts of `sizes` bytes and `ids`, with shares in proportion to `weights`."""
    total = sum(weights.values())
    return [
        Reading(name, sizes[name], ids[name], weight / total, drawn * weight / total)
        for name, weight in weights.items()
    ]


def exponent_of(sizes: Sequence[float], shares: Sequence[float]) -> float | None:
    """The power of sizes above 0 that shares are in proportion to; None where there is no such, or any would do."""
    places = [(math.log(size), math.log(share)) for size, share in zip(sizes, shares, strict=True) if size and share]
    (low, least), (high, most) = (min(places), max(places)) if places else ((0.0, 0.0),) * 2
    if high - low < 1e-9:
        return None
    power = (most - least) / (high - low)
    fits = all(abs(share - least - power * (size - low)) < 1e-6 for size, share in places)
    return power if fits else None
