"""What is stated, its words left open, and what one statement says of another: the conventions of inference.

Both statements of a pair speak of one scene, and `the worker` is whoever was called `the cook` a sentence ago,
if a cook is a worker. Antonyms are the two ends of one quality: what is not big is small. A deed is done in one
manner and at one place, numbers are exact, nobody is known to have done what was done to them, and `every` and `no`
speak of things that there are.
"""

from __future__ import annotations

from dataclasses import dataclass

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS = ("entailment", "neutral", "contradiction")

SPECIFIC, GENERAL, OTHER_SPECIFIC, OTHER_GENERAL = range(4)
"""A noun, its hypernym, a noun of another kind, and the hypernym of that."""
POLE, OPPOSITE, OTHER_POLE = range(3)
"""A verb or an adjective, its antonym, and one that has to do with neither."""


@dataclass(frozen=True)
class Statement:
    """Which of a pair's words are said, and how. `manner` and `place` are numbers of words too, or None.

    `determiner` is that of a quantified subject, `count` the number of things that something is done to. `polarity` is
    the word that affirms or denies, if there is one: "not", "always", "never". `exchanged`: who did it and to whom it
    was done have changed places.
    """

    noun: int = SPECIFIC
    pole: int = POLE
    polarity: str = ""
    determiner: str = "the"
    count: int | None = None
    exchanged: bool = False
    passive: bool = False
    manner: int | None = None
    place: int | None = None

    @property
    def seen_alone(self) -> tuple[object, ...]:
        """What a reader of this statement alone can tell of it: not which of two words of a kind it has."""
        return self.noun % 2, self.polarity, self.determiner

    @property
    def negative(self) -> bool:
        """Whether it denies what it speaks of; `no` is left to what is said of quantities."""
        return self.polarity in ("not", "never")


def label(premise: Statement, hypothesis: Statement) -> str:
    """What the premise says of the hypothesis."""
    if hypothesis.noun >= OTHER_SPECIFIC or OTHER_POLE in (premise.pole, hypothesis.pole):
        return NEUTRAL
    if premise.determiner != "the":
        return _quantified(premise, hypothesis)
    if hypothesis.noun < premise.noun or hypothesis.exchanged != premise.exchanged:
        return NEUTRAL
    details = (
        (premise.count, hypothesis.count),
        (premise.manner, hypothesis.manner),
        (premise.place, hypothesis.place),
    )
    exclusive = premise.pole != hypothesis.pole or any(a != b and None not in (a, b) for a, b in details)
    if not exclusive and any(a is None and b is not None for a, b in details):
        return NEUTRAL
    return CONTRADICTION if premise.negative ^ hypothesis.negative ^ exclusive else ENTAILMENT


def _quantified(premise: Statement, hypothesis: Statement) -> str:
    """`every` and `no` of the premise, and `every`, `no` and `a` of the hypothesis, about one quality.

    No cook is hot: every cook is cold. So only `every` is left, and `a` in hypotheses.
    """
    agree = (premise.pole == hypothesis.pole) ^ (premise.determiner == "no") ^ (hypothesis.determiner == "no")
    spoken_of = hypothesis.noun <= premise.noun
    if hypothesis.determiner == "a":
        return ENTAILMENT if agree else CONTRADICTION if spoken_of else NEUTRAL
    if not agree:
        return CONTRADICTION
    return ENTAILMENT if spoken_of else NEUTRAL
