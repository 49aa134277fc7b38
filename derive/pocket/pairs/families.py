"""The families of pairs: what differs between premise and hypothesis, as cases with their weights.

As a rule one content word differs, whatever the label: a noun or something that excludes it. What decides is which
word it is, what it has to do with the one in its place, who does what, and what is denied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product

from derive.pocket.pairs.balance import Case, balanced
from derive.pocket.pairs.statement import (
    GENERAL,
    OPPOSITE,
    OTHER_GENERAL,
    OTHER_POLE,
    OTHER_SPECIFIC,
    SPECIFIC,
    Statement,
)

SAME = ((SPECIFIC, SPECIFIC), (GENERAL, GENERAL))
UP, DOWN = (SPECIFIC, GENERAL), (GENERAL, SPECIFIC)
FOREIGN = ((SPECIFIC, OTHER_SPECIFIC), (SPECIFIC, OTHER_GENERAL), (GENERAL, OTHER_SPECIFIC), (GENERAL, OTHER_GENERAL))
CHANGED = ((UP, 1.0), (DOWN, 8.0), *((link, 0.25) for link in FOREIGN))
"""Two nouns (the premise's, the hypothesis's) that differ, and the weight that balancing begins with: it would rather
have a noun of another kind than a more special one, and both are wanted."""

POLARITIES = ("always", "never")
"""How a hypothesis says what is always so, or denies it, with a sentence of the same length."""

HYPERNYM, ANTONYM, NEGATION, PASSIVE, EXCHANGE, QUANTIFIER, NUMBER, ADJUNCT = KINDS = (
    "hypernym", "antonym", "negation", "passive", "exchange", "quantifier", "number", "adjunct",
)  # fmt: skip
"""What pairs try, as examples say it: every kind of pair bears at least two labels with the same outside."""


def _qualities(yes: str, no: str) -> Iterator[Case]:
    """What is, or does, what: a noun or its quality changes, and either side may be denied by the word `no`."""
    for first, second in product((yes, no), repeat=2):
        premise, hypothesis = Statement(polarity=first), Statement(polarity=second)
        weight = 0.6 if first != second else 1.0
        for (one, other), share in CHANGED:
            yield Case(
                replace(premise, noun=one), replace(hypothesis, noun=other), (first, second),
                NEGATION if first != second else HYPERNYM, weight * share,
            )  # fmt: skip
        for (one, other), pole in product(SAME, (OPPOSITE, OTHER_POLE)):
            yield Case(
                replace(premise, noun=one), replace(hypothesis, noun=other, pole=pole), (first, second),
                NEGATION if first != second else ANTONYM, weight,
            )  # fmt: skip


def _meetings() -> Iterator[Case]:
    """Who does something to whom, in which manner and voice."""
    either = (False, True)
    for first, second, exchanged, polarity in product(either, either, either, POLARITIES):
        premise = Statement(polarity="always", passive=first, manner=0)
        hypothesis = Statement(polarity=polarity, passive=second, manner=0, exchanged=exchanged)
        outside, kind = (first, second, polarity), PASSIVE if first != second else EXCHANGE
        # Half of the neutral pairs have nothing exchanged, so that order alone does not give the others away.
        for (one, other), share in CHANGED:
            if (one, other) == UP or not exchanged:
                weight = share if (one, other) == UP else 4 * share
                yield Case(replace(premise, noun=one), replace(hypothesis, noun=other), outside, kind, weight)
        for one, other in SAME:
            yield Case(replace(premise, noun=one), replace(hypothesis, noun=other, manner=1), outside, kind)


def _quantities() -> Iterator[Case]:
    """Every cook, no cook, a cook: whether more general nouns are entailed depends on what stands before them."""
    for first, second in product(("every", "no"), ("every", "no", "a")):
        premise, hypothesis = Statement(determiner=first), Statement(determiner=second)
        for (one, other), share in CHANGED:
            weight = 8.0 if (one, other) == UP else share  # here it is the more general that is no consequence
            yield Case(
                replace(premise, noun=one), replace(hypothesis, noun=other), (first, second), QUANTIFIER, weight
            )  # fmt: skip
        for (one, other), pole in product(SAME, (OPPOSITE, OTHER_POLE)):
            yield Case(
                replace(premise, noun=one), replace(hypothesis, noun=other, pole=pole), (first, second), QUANTIFIER
            )  # fmt: skip


def _numbers() -> Iterator[Case]:
    """Somebody who does something to two or three things: another number, or another name for the somebody."""
    premise = Statement(polarity="always", count=0)
    for polarity in POLARITIES:
        hypothesis = replace(premise, polarity=polarity)
        for (one, other), share in CHANGED:
            yield Case(replace(premise, noun=one), replace(hypothesis, noun=other), polarity, NUMBER, share)
        for one, other in SAME:
            yield Case(replace(premise, noun=one), replace(hypothesis, noun=other, count=1), polarity, NUMBER)


def _adjuncts() -> Iterator[Case]:
    """One of two adjuncts is left out (or added, more rarely), while another word changes."""
    both = Statement(polarity="always", manner=0, place=0)
    manner, place = replace(both, place=None), replace(both, manner=None)
    for polarity, added, (fewer, other_fewer, other_both) in product(
        POLARITIES,
        (False, True),
        (
            (manner, replace(manner, manner=1), replace(both, manner=1)),
            (place, replace(place, place=1), replace(both, place=1)),
        ),
    ):
        premise, hypothesis, changed = (fewer, both, other_both) if added else (both, fewer, other_fewer)
        hypothesis, changed = replace(hypothesis, polarity=polarity), replace(changed, polarity=polarity)
        weight = 0.3 if added else 1.0
        for (one, other), share in CHANGED:
            yield Case(
                replace(premise, noun=one), replace(hypothesis, noun=other), polarity, ADJUNCT, weight * share
            )  # fmt: skip
        for one, other in SAME:
            yield Case(replace(premise, noun=one), replace(changed, noun=other), polarity, ADJUNCT, weight)


SHARES = {
    "quality": 0.31, "deed": 0.31, "meeting": 0.11, "quantity": 0.07, "number": 0.12, "adjunct": 0.08,
}  # fmt: skip
"""How many of a hundred pairs belong to each family; qualities and deeds have the same cases."""
PLAIN = 0.2
"""Share of the qualities and deeds that are denied by `not`, which makes a sentence longer; `never` does not."""


@lru_cache(maxsize=1)
def families() -> dict[str, list[Case]]:
    """The balanced cases of each family; the weights of a label sum to one in each."""
    plain, steady = balanced(list(_qualities("", "not"))), balanced(list(_qualities("always", "never")))
    qualities = [
        replace(case, weight=share * case.weight)
        for cases, share in ((plain, PLAIN), (steady, 1 - PLAIN))
        for case in cases
    ]
    return {
        "quality": qualities,
        "deed": qualities,
        "meeting": balanced(list(_meetings())),
        "quantity": balanced(list(_quantities())),
        "number": balanced(list(_numbers())),
        "adjunct": balanced(list(_adjuncts())),
    }
