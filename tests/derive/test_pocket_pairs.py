"""Families of pairs: weights under which everything that is seen is equally frequent with every label."""

from __future__ import annotations

from collections import defaultdict

import pytest

from derive.pocket.inference import (
    GENERAL,
    LABELS,
    PLAIN,
    SHARES,
    SPECIFIC,
    VIEWS,
    PairCase,
    Statement,
    families,
    infer,
)
from derive.pocket.pairs import balanced


@pytest.mark.parametrize("family", SHARES)
def test_what_is_seen_is_equally_frequent_under_every_label(family: str) -> None:
    for view in VIEWS:
        seen: defaultdict[object, dict[str, float]] = defaultdict(lambda: dict.fromkeys(LABELS, 0.0))
        for case in families()[family]:
            seen[view(case)][case.label] += case.weight
        for weights in seen.values():
            assert max(weights.values()) - min(weights.values()) < 1e-9


@pytest.mark.parametrize("family", SHARES)
def test_the_weights_of_a_label_sum_to_one(family: str) -> None:
    for label_ in LABELS:
        assert sum(case.weight for case in families()[family] if case.label == label_) == pytest.approx(1)
    assert sum(SHARES.values()) == pytest.approx(1) and 0 < PLAIN < 1


def test_cases_that_give_their_label_away_are_left_out() -> None:
    """What entails is always more general: then a general hypothesis could not be neutral."""
    up = PairCase(Statement(SPECIFIC), Statement(GENERAL), None, "up")
    down = PairCase(Statement(GENERAL), Statement(SPECIFIC), None, "down")
    assert (up.label, down.label) == ("entailment", "neutral")
    with pytest.raises(ValueError, match="no weights make these cases look alike"):
        balanced([up, down], VIEWS)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        (Statement(), Statement(GENERAL), "entailment"),
        (Statement(GENERAL), Statement(), "neutral"),
        (Statement(polarity="always"), Statement(polarity="never", pole=1), "entailment"),
        (Statement(), Statement(exchanged=True), "neutral"),
        (Statement(), Statement(passive=True), "entailment"),
        (Statement(count=0), Statement(count=1), "contradiction"),
        (Statement(manner=0, place=0), Statement(place=0), "entailment"),
        (Statement(place=0), Statement(manner=0, place=0), "neutral"),
        (Statement(place=0), Statement(manner=0, place=1), "contradiction"),
        (Statement(determiner="every"), Statement(GENERAL, determiner="every"), "neutral"),
        (Statement(GENERAL, determiner="every"), Statement(determiner="every"), "entailment"),
        (Statement(determiner="no"), Statement(pole=1, determiner="a"), "entailment"),
        (Statement(determiner="no"), Statement(GENERAL, determiner="a"), "neutral"),
    ],
)
def test_conventions(premise: Statement, hypothesis: Statement, expected: str) -> None:
    assert infer(premise, hypothesis) == expected
