"""Ways to read links from an encoder's hidden states, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from analysis.aligners.extract import argmax, itermax, match
from analysis.aligners.scores import Transport, cosine


@dataclass(frozen=True)
class Method:
    """How hidden states become links: scores of two sides' sub-words, and the links that are read from them."""

    name: str
    score: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]


OT = Method("ot", Transport(), itermax)
"""Optimal transport filtered by Itermax, as XLM-Align labels itself during pretraining (sections 3.1 and 3.2)."""
RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""How the released aligner of XLM-Align reads links: each sub-word's best share of pi that is its partner's best of xi.

xi is the table after the last scaling of its columns, pi after the scaling of its rows that follows. A row of pi is one
of xi times a number, so their best cells are the same: links are the mutual argmax of xi. There is no Itermax.
"""
METHODS = (
    OT,
    RELEASED,
    Method("argmax", cosine, argmax),
    Method("itermax", cosine, itermax),
    Method("match", cosine, match),
)
"""All that can be asked for, and that a study compares (XLM-Align, section 4.3; SimAlign)."""
BY_NAME = {method.name: method for method in METHODS}
