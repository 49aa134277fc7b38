"""Ways to read links from an encoder's hidden states: a similarity, a plan made of it, and a rule, all by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from analysis.aligners.extract import argmax, itermax, match
from analysis.aligners.scores import Direct, Similarity, Transport, centred, cosines, products


@dataclass(frozen=True)
class Method:
    """How hidden states become links: scores of two sides' sub-words, and the links that are read from them."""

    name: str
    score: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]


DIRECT, TRANSPORT = "direct", "transport"
PLANS = (DIRECT, TRANSPORT)
"""What becomes of a similarity: nothing, or optimal transport."""
SIMILARITIES: dict[str, Similarity] = {"products": products, "cosine": cosines, "centred": centred}
RULES = {"argmax": argmax, "itermax": itermax, "match": match}
_USUAL = {DIRECT: "cosine", TRANSPORT: "products"}
"""The similarity that names leave out: that of SimAlign, and that of XLM-Align."""


def method(similarity: str = "centred", plan: str = DIRECT, rule: str = "argmax") -> Method:
    """The method of three choices, named by those that are unusual: `argmax`, `argmax-centred`, `ot-match`.

    Raises:
        KeyError: there is no such similarity, plan or rule.
    """
    how, unusual = SIMILARITIES[similarity], f"-{similarity}" * (similarity != _USUAL[plan])
    if plan == DIRECT:
        return Method(f"{rule}{unusual}", Direct(how, bounded=how is not products), RULES[rule])
    name = f"-{rule}{unusual}" * (rule != "itermax" or bool(unusual))
    return Method(f"ot{name}", Transport(similarity=how), RULES[rule])


RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""How the released aligner of XLM-Align reads links: each sub-word's best share of pi that is its partner's best of xi.

xi is the table after the last scaling of its columns, pi after the scaling of its rows that follows. A row of pi is one
of xi times a number, so their best cells are the same: links are the mutual argmax of xi. There is no Itermax.
"""
PRESETS = {
    "ot": ("products", TRANSPORT, "itermax"),
    **{rule: ("cosine", DIRECT, rule) for rule in RULES},
    "argmax-centred": ("centred", DIRECT, "argmax"),
}
"""The choices that have a name of their own: XLM-Align's, SimAlign's three, and the default."""
OT = method(*PRESETS["ot"])
"""Optimal transport filtered by Itermax, as XLM-Align labels itself during pretraining (sections 3.1 and 3.2)."""
DEFAULT = method()
"""Mutual argmax of centred cosines: of all choices it has the lowest AER on one gold set, en-fr."""
METHODS = (OT, RELEASED, *(method(*choices) for name, choices in PRESETS.items() if name != OT.name))
"""What a study compares (XLM-Align, section 4.3; SimAlign)."""
BY_NAME = {one.name: one for one in METHODS}
CHOICES = (
    *(method(similarity, plan, rule) for plan in PLANS for rule in RULES for similarity in SIMILARITIES),
    RELEASED,
)
"""Every method that the three choices make, and the one that they do not."""


def asked(name: str | None, similarity: str | None = None, plan: str | None = None, rule: str | None = None) -> Method:
    """A method by its name, with other choices in place of its own; without a name, the default with those.

    The default's transport is one of products.

    Raises:
        ValueError: other choices in place of those of `xlm-align`, which makes none.
    """
    if name == RELEASED.name:
        if similarity or plan or rule:
            raise ValueError(f"{name} is a rule of its own, without other choices")
        return RELEASED
    usual = PRESETS[name or DEFAULT.name]
    if name is None and plan == TRANSPORT:
        usual = (_USUAL[TRANSPORT], *usual[1:])
    return method(*(choice or own for choice, own in zip((similarity, plan, rule), usual, strict=True)))
