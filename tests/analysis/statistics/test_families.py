"""Families: Holm's method against its definition, closed testing and published numbers; what a verdict becomes."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.statistics.intervals import CONFIDENCE
from analysis.statistics.verdicts import (
    FAILS,
    FAILS_ALONE,
    HOLDS,
    HOLDS_ALONE,
    ONE_SEED,
    UNDECIDED,
    Corrected,
    Verdict,
    holm,
    in_families,
)

PS = st.lists(st.floats(0, 1), min_size=1, max_size=7)


def by_definition(ps: list[float]) -> list[float]:
    """Holm (1979), as its definition reads."""
    ranked = sorted(ps)
    return [max(min(1.0, (len(ps) - i) * q) for i, q in enumerate(ranked) if q <= p) for p in ps]


def by_closed_testing(ps: list[float]) -> list[float]:
    """Marcus, Peritz and Gabriel (1976): the worst Bonferroni p of all sets of hypotheses that have this one."""
    places = range(len(ps))
    sets = [each for size in range(1, len(ps) + 1) for each in combinations(places, size)]
    return [max(min(1.0, len(each) * min(ps[j] for j in each)) for each in sets if i in each) for i in places]


@given(PS)
def test_holm_is_its_definition_and_closed_testing(ps: list[float]) -> None:
    assert holm(ps) == pytest.approx(by_closed_testing(ps))
    if len(set(ps)) == len(ps):
        assert holm(ps) == pytest.approx(by_definition(ps))


@given(PS)
def test_a_corrected_p_is_no_smaller_and_keeps_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= a <= 1 for p, a in zip(ps, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i in range(len(ps)) for j in range(len(ps)) if ps[i] <= ps[j])


@given(PS, st.randoms(use_true_random=False))
def test_the_order_of_claims_is_nothing_to_it(ps: list[float], random: Random) -> None:
    places = list(range(len(ps)))
    random.shuffle(places)
    adjusted = holm(ps)
    assert holm([ps[i] for i in places]) == [adjusted[i] for i in places]


def test_numbers_of_r() -> None:
    """p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") of R, of which statsmodels prints the same."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.03]) == [0.03] and holm([]) == []


def test_a_family_has_a_false_finding_once_in_twenty_at_most() -> None:
    random = np.random.default_rng(0)
    families = [min(holm(list(random.random(10)))) < 0.05 for _ in range(2000)]
    alone = [random.random(10).min() < 0.05 for _ in range(2000)]
    assert np.mean(families) <= 0.065 and np.mean(alone) > 0.3


def words(*verdicts: tuple[str, Verdict]) -> list[str]:
    return [corrected.verdict for corrected in in_families(verdicts)]


def test_a_verdict_may_not_stand_in_its_family_and_others_are_nothing_to_it() -> None:
    weak, strong, open_ = Verdict(HOLDS, "", 0.04), Verdict(FAILS, "", 0.001), Verdict(UNDECIDED, "", 0.5)
    undecidable, fails = Verdict(ONE_SEED, ""), Verdict(FAILS, "", 0.03)
    assert words(("a", weak), ("a", strong), ("a", open_)) == [HOLDS_ALONE, FAILS, UNDECIDED]
    assert words(("a", fails), ("a", open_)) == [FAILS_ALONE, UNDECIDED]
    assert words(("a", weak), ("b", strong), ("b", open_)) == [HOLDS, FAILS, UNDECIDED]
    assert words(("a", weak), ("a", undecidable)) == [HOLDS, ONE_SEED]  # it is no test, and costs nothing
    certain, level = Verdict(HOLDS, "", 0.0), Verdict(HOLDS, "", 1 - CONFIDENCE)
    assert words(("a", certain), ("b", level)) == [HOLDS, HOLDS_ALONE]  # below the level, and not at it


def test_the_corrected_p_and_the_size_of_its_family_are_told() -> None:
    three = [("a", Verdict(HOLDS, "", 0.01)), ("a", Verdict(UNDECIDED, "", 0.2)), ("a", Verdict(ONE_SEED, ""))]
    assert in_families(three) == [
        Corrected(HOLDS, 0.02, 2),
        Corrected(UNDECIDED, 0.2, 2),
        Corrected(ONE_SEED, None, 0),
    ]
