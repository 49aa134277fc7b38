"""Verdicts: which way the interval must lie, over seeds and over items."""

from __future__ import annotations

import pytest

from analysis.papers.align_mlm import claims
from analysis.papers.align_mlm.claims import align_mlm_claims
from analysis.records.record import ALIGNMENT, Record
from analysis.statistics.verdicts import FAILS, HOLDS, NO_RECORDS, ONE_SEED, UNDECIDED, Verdict
from tests.analysis.runs import number
from tests.analysis.toy import joined


def scores(objective: str, deltas: list[float], transform: str = "trans.inv", count: int = 2000) -> list[Record]:
    """SUP of 0.9, and a ZS that lies `deltas[seed]` below, on POS."""
    return [
        number(transform, objective, seed, measure, "pos", "accuracy", value, count)
        for seed, delta in enumerate(deltas)
        for measure, value in (("SUP", 0.9), ("ZS", 0.9 - delta))
    ]


def aligned(
    objective: str, shares: list[float], metric: str = "held-out", transform: str = "trans.inv"
) -> list[Record]:
    return [
        number(transform, objective, seed, ALIGNMENT, "", metric, share, 1000, 300) for seed, share in enumerate(shares)
    ]


def smallest(records: list[Record]) -> Verdict:
    return claims.extreme_delta(joined(records), "ALIGN-MLM", "trans.inv", "pos", "accuracy", -1)


@pytest.mark.parametrize(
    ("mlm", "align", "verdict"),
    [
        ([0.30, 0.31, 0.32], [0.10, 0.11, 0.121], HOLDS),
        ([0.10, 0.11, 0.12], [0.30, 0.31, 0.321], FAILS),
        ([0.30, 0.31, 0.32], [0.10, 0.11, 0.12], UNDECIDED),  # seeds that do not differ say nothing of others,
        ([0.10, 0.30, 0.20], [0.20, 0.10, 0.15], UNDECIDED),  # the interval over seeds holds 0
        ([0.30], [0.10], ONE_SEED),  # 2,000 items tell 20 points, and say nothing of other seeds
        ([0.10], [0.30], ONE_SEED),
    ],
)
def test_the_smallest_delta_is_told_by_the_paired_interval(mlm: list[float], align: list[float], verdict: str) -> None:
    found = smallest(scores("MLM", mlm) + scores("ALIGN-MLM", align))
    assert found.verdict == verdict
    assert ("one seed: the interval covers test items only" in found.because) == (len(mlm) == 1)


def test_every_rival_counts_and_the_closest_is_named() -> None:
    ours = scores("ALIGN-MLM", [0.10, 0.10, 0.11])
    found = smallest(ours + scores("MLM", [0.4, 0.41, 0.41]) + scores("XLM", [0.1, 0.2, 0.05]))
    assert (found.verdict, "ALIGN-MLM − XLM, the closest of 2" in found.because) == (UNDECIDED, True)
    assert smallest(ours + scores("MLM", [0.4, 0.41, 0.41]) + scores("XLM", [0.01, 0.02, 0.02])).verdict == FAILS


def test_pairs_are_of_one_seed() -> None:
    """Seeds differ by 20 points, the objectives by 5 at every seed: paired, that is told."""
    found = smallest(scores("MLM", [0.25, 0.35, 0.45]) + scores("ALIGN-MLM", [0.20, 0.30, 0.401]))
    assert found.verdict == HOLDS


def test_nothing_measured_is_undecided() -> None:
    everything = [claim.test(joined([])) for claim in align_mlm_claims(joined([]))]
    assert {found.verdict for found in everything} == {UNDECIDED}
    assert smallest(scores("MLM", [0.1])).because == NO_RECORDS
    assert smallest(scores("ALIGN-MLM", [0.1])).because == NO_RECORDS


@pytest.mark.parametrize(
    ("worst", "verdict"), [([0.0, 0.001, 0.002], HOLDS), ([0.08, 0.081, 0.082], FAILS), ([0.0, 0.05, 0.03], UNDECIDED)]
)
def test_near_zero_is_within_three_points_for_all(worst: list[float], verdict: str) -> None:
    records = scores("MLM", worst, "trans") + scores("XLM", [-0.01, -0.01, -0.011], "trans")
    found = claims.all_near(joined(records), "trans", "pos", "accuracy")
    assert found.verdict == verdict and "largest Δ of 2: MLM" in found.because


@pytest.mark.parametrize(
    ("shares", "verdict"), [([0.002, 0.003, 0.002], HOLDS), ([0.5, 0.5, 0.51], FAILS), ([0.001, 0.03], UNDECIDED)]
)
def test_near_chance_is_within_a_point_of_it(shares: list[float], verdict: str) -> None:
    found = claims.near_chance(joined(aligned("MLM", shares, "all")), "trans.inv")
    assert found.verdict == verdict and found.because.endswith("chance 0.1")


def test_held_out_alignment_is_compared() -> None:
    records = aligned("ALIGN-MLM", [0.3, 0.31]) + aligned("MLM", [0.1, 0.111])
    assert claims.most_aligned(joined(records), "ALIGN-MLM", "trans.inv", "held-out").verdict == HOLDS


def test_rho_needs_its_interval_above_the_bound() -> None:
    cells = [
        (objective, transform)
        for objective in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM")
        for transform in ("trans", "trans.inv")
    ]
    records = []
    for i, (objective, transform) in enumerate(cells):
        delta, share = 0.4 - 0.05 * i, 0.1 * i
        records += scores(objective, [delta, delta], transform)
        records += aligned(objective, [share, share], "all", transform)
    assert claims.correlated(joined(records), "pos", "accuracy", 0.7).verdict == HOLDS
    few = claims.correlated(joined(records[:36]), "pos", "accuracy", 0.7)
    assert (few.verdict, "6 cells of 2 seeds: too few" in few.because) == (UNDECIDED, True)
    one = [record for record in records if record.run.endswith(" 0")]
    assert claims.correlated(joined(one), "pos", "accuracy", 0.7).verdict == ONE_SEED


def test_ahead_by_thirty_points() -> None:
    records = scores("XLM", [0.4, 0.41]) + scores("ALIGN-MLM", [0.01, 0.021])
    found = claims.ahead(joined(records), "ALIGN-MLM", "XLM", "trans.inv", "pos", "accuracy", 0.3)
    assert found.verdict == HOLDS
    assert claims.ahead(joined(records), "XLM", "ALIGN-MLM", "trans.inv", "pos", "accuracy", 0.3).verdict == FAILS
