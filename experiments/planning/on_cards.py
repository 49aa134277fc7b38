"""A run on several cards of a kind: how long it would take, and how its batch is cut so that it fits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from derive.errors import BadInput
from experiments.planning.cards import EFFICIENCY, Card
from experiments.step import Cost

USABLE = 0.9
"""The part of a card's memory that a plan fills."""


@dataclass(frozen=True)
class OnCards:
    """A run in `micro_batches` a step on each card: `memory` in bytes a card, and `seconds` in all."""

    micro_batches: int
    memory: float
    seconds: float


def on_cards(cost: Cost, card: Card, number: int) -> OnCards:
    """Estimate a run on `number` cards, one process each, without the time that they wait for each other.

    Raises:
        BadInput: not even one row at a time fits on a card, or there are more cards than rows in a step.
    """
    if number > cost.batch:
        raise BadInput(f"{number:,} cards for {cost.batch:,} rows a step; expected at most one a row")
    room, rows = USABLE * card.memory, math.ceil(cost.batch / number)
    at_a_time = next((n for n in range(rows, 0, -1) if cost.card.of(n) <= room), 0)
    if not at_a_time:
        raise BadInput(
            f"a model of {cost.parameters / 1e6:,.0f} M parameters and a row of it do not fit on {card.kind}"
        )
    micro_batches = math.ceil(rows / at_a_time)
    return OnCards(
        micro_batches,
        cost.card.of(math.ceil(rows / micro_batches)),
        cost.flops / (EFFICIENCY * card.peak * number),
    )
