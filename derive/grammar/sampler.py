"""Exact draws from a grammar, with the probabilities of earlier nodes cached."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from derive.grammar.model import Grammar
from derive.grammar.orders import order_tuples

ROOM = 1 << 27
"""Bytes of probabilities that are remembered at most; beyond them the nodes that were not met longest go."""


class Sampler:
    """Draws orders; a node of the same items as one before costs a search in its distribution."""

    def __init__(self, grammar: Grammar, room: int = ROOM) -> None:
        self._grammar = grammar
        self._room = room
        self._known: OrderedDict[tuple[str, ...], np.ndarray] = OrderedDict()

    def __call__(self, items: tuple[str, ...], u: float) -> tuple[int, ...]:
        """The order of a node's items, the head's last, that a uniform number from 0 to below 1 picks."""
        orders = order_tuples(len(items))
        return orders[min(int(self.cumulative(items).searchsorted(u, "right")), len(orders) - 1)]

    def cumulative(self, items: tuple[str, ...]) -> np.ndarray:
        """The probability of each order and all before it: (n!,)."""
        ends = self._known.get(items)
        if ends is not None:
            self._known.move_to_end(items)
            return ends
        ends = np.cumsum(self._grammar.probabilities(items))
        self._known[items] = ends
        self._room -= ends.nbytes
        while self._room < 0 and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._room += oldest.nbytes
        return ends
