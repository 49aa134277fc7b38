"""Steps next to each other on one card: as many as its memory is expected to hold, in their order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

USABLE = 0.9
"""The part of a card's memory that is filled: the bytes of a step are an estimate."""
CONTEXT = 700 * 2**20
"""Bytes of a card that a process takes before there is a model: CUDA's context and kernels. An assumption."""


@dataclass(frozen=True)
class Room:
    """Memory of a card in bytes, for steps that are each expected to take some, or 0 if they do not compute on it.

    A step whose bytes are unknown (None), or more than the card has, gets the card to itself.
    """

    bytes: float

    def admits(self, under_way: Collection[float | None], step: float | None) -> bool:
        """Whether a step fits next to those under way."""
        others = [taken for taken in under_way if taken != 0]
        if step == 0 or not others:
            return True
        known = [taken for taken in (*others, step) if taken is not None]
        return len(known) > len(others) and sum(known) <= self.bytes

    def at_once(self, steps: Sequence[float | None]) -> int:
        """How many of some steps may at most be under way together."""
        free = sum(taken == 0 for taken in steps)
        room, number = self.bytes, 0
        for taken in sorted(taken for taken in steps if taken):
            room -= taken
            if room < 0:
                break
            number += 1
        return free + max(number, min(1, len(steps) - free))


def all_memory() -> float:
    """All memory for a model, in bytes: a card's, or this machine's if there is no card."""
    import torch

    from pretrain.cost import machine_bytes

    if torch.cuda.is_available():
        return float(torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
    return float(machine_bytes())


def card_room() -> Room | None:
    """The free memory of this process's card; None where there is none."""
    import torch

    return Room(USABLE * torch.cuda.mem_get_info()[0]) if torch.cuda.is_available() else None
