"""Premises and hypotheses whose label follows from the grammar, and not from their outside.

A pair is one case of one family (derive.pocket.pairs.families) with words that are drawn alike for all labels. Cases
are weighted so that neither side alone, nor what the two have in common, tells the label.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate

from derive.example import Example
from derive.pocket.pairs.balance import Case
from derive.pocket.pairs.families import SHARES, families
from derive.pocket.pairs.fresh import fresh
from derive.pocket.pairs.material import Material, Words
from derive.pocket.pairs.say import say
from derive.pocket.pairs.statement import LABELS
from derive.pocket.preferences import Sense
from derive.pocket.tree import Places


class Inference:
    """Draws labelled pairs about the senses of `topics`; `places` draws the word order of a sentence.

    No pair comes twice: a case whose words it had before is drawn again, so labels stay in equal shares.
    """

    def __init__(self, topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> None:
        words = Words(topics, rng)
        self._rng = rng
        self._places = places
        self._draws: dict[str, Callable[[], Material]] = {
            "quality": words.quality, "deed": words.deed, "quantity": words.quality, "number": words.number,
            "adjunct": words.adjunct, "meeting": words.meeting,
        }  # fmt: skip
        self._cases: dict[str, tuple[list[tuple[str, Case]], list[float]]] = {}
        for label in LABELS:
            cases = [(name, case) for name in SHARES for case in families()[name] if case.label == label]
            self._cases[label] = cases, list(accumulate(SHARES[name] * case.weight for name, case in cases))

    def pairs(self) -> Iterator[Example]:
        """Pairs without end; every three in a row bear the three labels, in a random order.

        Raises:
            BadInput: all pairs that the lexicon can make of some case have come.
        """
        return fresh(LABELS, self._rng, self._case)

    def _case(self, label: str) -> Callable[[], Example]:
        cases, ends = self._cases[label]
        family, case = self._rng.choices(cases, cum_weights=ends)[0]
        return lambda: self._drawn(family, case)

    def _drawn(self, family: str, case: Case) -> Example:
        material = self._draws[family]()
        if material.deed and "not" in (case.premise.polarity, case.hypothesis.polarity):
            material = replace(material, tense="perfect")  # has (not) found: the verb has one form on both sides
        premise, hypothesis = (
            say(statement, material, self._places(), self._rng) for statement in (case.premise, case.hypothesis)
        )
        return Example(((premise,), (hypothesis,)), case.label, case.kind)
