import pytest

from calque.analysis.papers.align_mlm.claims import all_near, extreme_delta
from calque.analysis.papers.columns import retained_cell
from calque.analysis.records.record import Floor
from calque.analysis.results.results import Results
from calque.analysis.results.retained import retained
from calque.analysis.statistics.verdicts import AT_FLOOR, FAILS, HOLDS
from tests.analysis.runs import number, runs

CELL = ("MLM", "trans", "pos", "accuracy")


def floor(value, learnt="source", baseline="majority", surface=False):
    return Floor(baseline, baseline, "pos", "accuracy", value, 1_000, "trans", learnt, surface)


def scores(objective, sup, zs):
    return [
        number("trans", objective, seed, measure, "pos", "accuracy", value, 1_000)
        for measure, values in (("SUP", sup), ("ZS", zs))
        for seed, value in enumerate(values)
    ]


def results(records, *floors):
    return Results(runs(records), records, floors=floors)


def test_retained_share_by_hand():
    low = [
        floor(0.2),
        floor(0.3, baseline="unigram"),
        floor(0.9, "trans", "unigram"),
        floor(0.1, baseline="other"),
    ]
    found = retained(results(scores("MLM", [0.8, 0.9, 0.85], [0.5, 0.61, 0.54]), *low), *CELL)
    assert found.share and found.floor.baseline == "unigram"
    assert found.share.mean == pytest.approx((0.55 - 0.3) / (0.85 - 0.3))
    assert found.share.low and found.share.high and found.share.low < found.share.mean < found.share.high
    assert (found.zs.mean, found.sup.mean) == pytest.approx((0.25, 0.55))
    assert (found.at_floor, found.remark) == (False, "")
    assert retained_cell(found).startswith("45.5 ")


SUPS = [0.90, 0.91, 0.92]


def test_delta_claims_at_the_floor_are_undecided():
    """SUP and so Δ differ, but both ZS equal the majority baseline: there is no transfer to compare."""
    records = scores("MLM", [0.7, 0.71, 0.72], [0.29, 0.31, 0.30]) + scores("XLM", SUPS, [0.30, 0.29, 0.31])
    for low, extreme, near in (((), HOLDS, FAILS), ((floor(0.3),), AT_FLOOR, AT_FLOOR)):
        made = results(records, *low)
        verdict = extreme_delta(made, "XLM", "trans", "pos", +1)
        assert verdict.verdict == extreme
        assert all_near(made, "trans", "pos").verdict == near
        assert (verdict.p is None) == ("majority floor, the largest of 2" in verdict.because) == bool(low)
