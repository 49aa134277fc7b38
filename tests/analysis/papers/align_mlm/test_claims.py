"""Verdicts: which way the interval must lie, over seeds and over items."""

from dataclasses import replace

import pytest

from calque.analysis.papers.align_mlm import claims
from calque.analysis.papers.align_mlm.claims import align_mlm_claims
from calque.analysis.papers.findings import Ranking, ranked
from calque.analysis.records.record import ALIGNMENT, Record
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED, Verdict
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
    return claims.extreme_delta(joined(records), "ALIGN-MLM", "trans.inv", "pos", -1)


@pytest.mark.parametrize(
    ("mlm", "align", "verdict"),
    [
        ([0.30, 0.31, 0.32], [0.10, 0.11, 0.121], HOLDS),
        ([0.10, 0.11, 0.12], [0.30, 0.31, 0.321], FAILS),
        ([0.30, 0.31, 0.32], [0.10, 0.11, 0.12], UNDECIDED),  # seeds that do not differ say nothing of others,
        ([0.10, 0.30, 0.20], [0.20, 0.10, 0.15], UNDECIDED),  # the interval over seeds holds 0
        ([0.30], [0.10], ONE_SEED),  # 2,000 items tell 20 points, and do not cover other seeds
        ([0.10], [0.30], ONE_SEED),
    ],
)
def test_the_smallest_delta_is_told_by_the_paired_interval(mlm: list[float], align: list[float], verdict: str) -> None:
    found = smallest(scores("MLM", mlm) + scores("ALIGN-MLM", align))
    assert found.verdict == verdict
    assert ("one seed: the interval covers test items only" in found.because) == (len(mlm) == 1)
    assert found.because.startswith("ALIGN-MLM − MLM: "), "the only other objective is not the closest of several"


def test_every_rival_counts_and_the_closest_is_named() -> None:
    ours = scores("ALIGN-MLM", [0.10, 0.10, 0.11])
    found = smallest(ours + scores("MLM", [0.4, 0.41, 0.41]) + scores("XLM", [0.1, 0.2, 0.05]))
    assert (found.verdict, "ALIGN-MLM − XLM, the closest of 2" in found.because) == (UNDECIDED, True)
    assert smallest(ours + scores("MLM", [0.4, 0.41, 0.41]) + scores("XLM", [0.01, 0.02, 0.02])).verdict == FAILS


def test_pairs_are_of_one_seed() -> None:
    """Seeds differ by 20 points, the objectives by 5 at every seed: paired, that is told."""
    found = smallest(scores("MLM", [0.25, 0.35, 0.45]) + scores("ALIGN-MLM", [0.20, 0.30, 0.401]))
    assert found.verdict == HOLDS


@pytest.mark.parametrize(
    ("worst", "verdict"), [([0.0, 0.001, 0.002], HOLDS), ([0.08, 0.081, 0.082], FAILS), ([0.0, 0.05, 0.03], UNDECIDED)]
)
def test_near_zero_is_within_three_points_for_all(worst: list[float], verdict: str) -> None:
    records = scores("MLM", worst, "trans") + scores("XLM", [-0.01, -0.01, -0.011], "trans")
    found = claims.all_near(joined(records), "trans", "pos")
    assert found.verdict == verdict and "largest Δ of 2: MLM" in found.because


@pytest.mark.parametrize(
    ("shares", "verdict"), [([0.002, 0.003, 0.002], HOLDS), ([0.5, 0.5, 0.51], FAILS), ([0.001, 0.03], UNDECIDED)]
)
def test_near_chance_is_within_a_point_of_it(shares: list[float], verdict: str) -> None:
    found = claims.near_chance(joined(aligned("MLM", shares, "all")), "trans.inv")
    assert found.verdict == verdict and found.because.endswith("chance 0.1")


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
    assert claims.correlated(joined(records), "pos", 0.7).verdict == HOLDS
    few = claims.correlated(joined(records[:36]), "pos", 0.7)
    assert (few.verdict, "6 cells of 2 seeds: too few" in few.because) == (UNDECIDED, True)
    one = [record for record in records if record.run.endswith(" 0")]
    assert claims.correlated(joined(one), "pos", 0.7).verdict == ONE_SEED


def test_rho_below_the_bound_fails_and_about_it_is_undecided() -> None:
    """Eight cells whose Delta rises with alignment; the same cells without an order; and rho of exactly 1."""
    names = [(o, t) for o in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM") for t in ("trans", "trans.inv")]

    def rho(*deltas: float) -> Verdict:
        records = []
        for place, ((objective, transform), delta) in enumerate(zip(names, deltas, strict=True)):
            records += scores(objective, [delta, delta], transform)
            records += aligned(objective, [0.1 * place] * 2, "all", transform)
        return claims.correlated(joined(records), "pos", 0.7)

    falls = rho(0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    rises = rho(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    mixed = rho(0.8, 0.5, 0.7, 0.6, 0.1, 0.4, 0.3, 0.2)
    assert [found.verdict for found in (falls, rises, mixed)] == [HOLDS, FAILS, UNDECIDED]
    assert "ρ = 1.000" in falls.because and "ρ = -1.000" in rises.because and "8 cells of 2 seeds" in falls.because
    assert falls.p and rises.p and mixed.p
    assert falls.p == rises.p == pytest.approx(2 / 10_000) and 0.05 < mixed.p <= 1


def test_chance_is_one_in_as_many_as_the_smallest_vocabulary_has() -> None:
    few = [
        replace(record, count=40) if record.run.endswith(" 0") else record
        for record in aligned("MLM", [0.02] * 2, "all")
    ]
    assert claims.near_chance(joined(few), "trans.inv").because.endswith("chance 2.5")


def ranking(side: int, **shares: list[float]) -> Ranking | None:
    results = joined(
        [
            number("trans", name.replace("_", "-"), seed, ALIGNMENT, "", "all", share, 1000, 9)
            for name, by_seed in shares.items()
            for seed, share in enumerate(by_seed)
        ]
    )
    return ranked({name: results.alignments(name, "trans", "all") for name in results.objectives}, side)


def test_the_largest_or_the_smallest_comes_first() -> None:
    found = ranking(+1, MLM=[0.1, 0.2], XLM=[0.5, 0.6], DICT_MLM=[0.3, 0.4])
    assert found and (found.best, found.next) == ("XLM", "DICT-MLM")
    assert (found.value, found.next_value) == (pytest.approx(0.55), pytest.approx(0.35))
    found = ranking(-1, MLM=[0.1, 0.2], XLM=[0.5, 0.6], DICT_MLM=[0.3, 0.4])
    assert found and (found.best, found.next) == ("MLM", "DICT-MLM")


def test_seeds_decide_by_their_paired_interval() -> None:
    steady = ranking(+1, MLM=[0.1, 0.5, 0.9], XLM=[0.05, 0.44, 0.85])  # each seed by 5 or 6 points
    noisy = ranking(+1, MLM=[0.1, 0.5, 0.9], XLM=[0.5, 0.1, 0.8])
    one = ranking(+1, MLM=[0.9], XLM=[0.1])
    assert steady and noisy and one
    assert (steady.leads, noisy.leads, one.leads) == (True, False, False)
    down = ranking(-1, MLM=[0.1, 0.5, 0.9], XLM=[0.05, 0.44, 0.85])
    assert down and down.leads and down.best == "XLM"


def test_a_leader_is_beyond_every_other_and_not_tied() -> None:
    wide = ranking(+1, MLM=[0.50, 0.51, 0.52], XLM=[0.40, 0.411, 0.42], DICT_MLM=[0.9, 0.1, 0.1])
    assert wide and (wide.best, wide.next, wide.leads) == ("MLM", "XLM", False)
    tied = ranking(+1, MLM=[0.0090, 0.0091, 0.0092], XLM=[0.00895, 0.00903, 0.00914])  # 0.9 % and 0.9 %
    assert tied and not tied.leads


def test_changed_words_are_compared_with_the_same_transform_without() -> None:
    """The seeds pair, and a transform without its counterpart says nothing."""
    worse = scores("MLM", [0.30, 0.31, 0.32], "trans.agg") + scores("MLM", [0.10, 0.11, 0.121], "trans")
    found = {(c.text, c.verdict.verdict) for c in align_mlm_claims(joined(worse)) if c.family == "morphology"}
    assert {verdict for _, verdict in found} == {HOLDS} and len(found) == 1
    better = scores("MLM", [0.10, 0.11, 0.121], "trans.agg") + scores("MLM", [0.30, 0.31, 0.32], "trans")
    assert [c.verdict.verdict for c in claims.changed_words(joined(better))] == [FAILS]
    assert not [*claims.changed_words(joined(scores("MLM", [0.1, 0.2], "trans.agg")))]
    assert not [
        *claims.changed_words(joined(scores("MLM", [0.1, 0.2], "trans.inv") + scores("MLM", [0.1, 0.2], "trans")))
    ]
