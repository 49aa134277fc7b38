"""Cards that a plan is made for: what their makers' data sheets say, and how much of it training is taken to reach."""

from __future__ import annotations

from dataclasses import dataclass

from derive.errors import BadInput, unknown

EFFICIENCY = 0.4
"""The part of the matrix-product rate that training is taken to reach, here and on cards: an assumption. A run logs
its own as `mfu`."""


@dataclass(frozen=True)
class Card:
    """`peak` is the dense matrix-product rate in bfloat16 in operations/s, without sparsity; `memory` is in bytes."""

    kind: str
    peak: float
    memory: int
    sheet: str


CARDS = (
    Card("A100", 312e12, 80 * 10**9, "NVIDIA, A100 80GB"),
    Card("H100", 989.4e12, 80 * 10**9, "NVIDIA, H100 SXM"),
    Card("H100-PCIe", 756.5e12, 80 * 10**9, "NVIDIA, H100 PCIe"),
    Card("H200", 989.4e12, 141 * 10**9, "NVIDIA, H200 SXM"),
    Card("L40S", 362.05e12, 48 * 10**9, "NVIDIA, L40S"),
    Card("MI300X", 1307.4e12, 192 * 10**9, "AMD, Instinct MI300X"),
)


def card(kind: str) -> Card:
    """The card of a kind, in upper or lower case.

    Raises:
        BadInput: no card here is of that kind.
    """
    kinds = {card.kind.lower(): card for card in CARDS}
    if kind.lower() not in kinds:
        raise BadInput(unknown("kind of card", kind, (card.kind for card in CARDS)))
    return kinds[kind.lower()]
