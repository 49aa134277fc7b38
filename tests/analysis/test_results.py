import math
from dataclasses import replace

import pytest

from calque.analysis.papers.align_mlm import all_near, extreme_delta
from calque.analysis.papers.columns import task_columns
from calque.analysis.records.record import Floor, Items, Record
from calque.analysis.results import (
    Measured,
    Results,
    above_floor,
    average,
    difference,
    gap,
    is_at_floor,
    judge_estimate,
    mean,
)
from calque.analysis.statistics import item_error
from calque.analysis.verdicts import AT_FLOOR, FAILS, HOLDS, ONE_SEED, UNDECIDED
from tests.analysis.runs import number, runs
from tests.analysis.toy import joined

SCORE = number("trans.inv", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 9)


def test_columns_and_deltas_by_seed_are_from_the_last_step():
    scores = [("SUP", 0, 0.9), ("SUP", 1, 0.8), ("ZS", 1, 0.5), ("ZS", 2, 0.4), ("DELTA", 1, 0.123)]
    records = [number("trans", "MLM", seed, what, "pos", "accuracy", v, 100, 3) for what, seed, v in scores]
    results = joined([*records, *(replace(records[0], step=step, value=0.1) for step in (1, 2))])
    found = {
        record.measure: {seed: one.value for seed, one in values.items()}
        for record, values in results.columns()
    }
    assert found == {"SUP": {0: 0.9, 1: 0.8}, "ZS": {1: 0.5, 2: 0.4}, "DELTA": {1: pytest.approx(0.3)}}
    key = "MLM", "trans", "pos", "accuracy"
    assert results.scores("DELTA", *key)[1].value == found["DELTA"][1]
    assert results.last("SUP", *key)[0].step == 3


def score(hits, of, measure="ZS", **facets):
    value, items = sum(hits) / sum(of), Items.over(hits, of)
    return Measured.of(Record("r", measure, "accuracy", value, sum(of), items=items, **facets))


def test_differences_on_shared_items_are_paired():
    """Two models disagree on one item: their scores have wide intervals, their difference a narrow one."""
    one, other = score([1] * 50 + [0] * 50, [1] * 100), score([1] * 51 + [0] * 49, [1] * 100)
    found = difference({0: other}, {0: one})
    apart = math.hypot(item_error(0.5, 100), item_error(0.51, 100))
    assert found.mean == pytest.approx(0.01)
    assert found.error < 0.3 * apart


def test_only_items_of_one_test_set_are_paired():
    hits, of = [1] * 500 + [0] * 500, [1] * 1000
    one = score(hits, of, task="pos", language="fr")
    other, same = (score([*hits[1:], 1], of, task=task, language="fr") for task in ("ner", "pos"))
    apart, paired = gap([{0: one}], [{0: other}]), gap([{0: one}], [{0: same}])
    error = math.hypot(one.error, other.error)
    assert apart.error == pytest.approx(error)
    assert paired.error == pytest.approx((one - same).error) and paired.error < 0.1 * apart.error
    assert average([{0: one}, {0: other}])[0].error == pytest.approx(error / 2)


@pytest.mark.parametrize("measure", ["recovered", "DELTA"])
def test_intervals_of_negative_numbers_contain_their_mean(measure):
    values = {seed: Measured.of(replace(SCORE, measure=measure, value=-0.2 - seed / 10)) for seed in range(3)}
    found = mean(values)
    assert found.low < found.mean < found.high


def seeds(*values):
    return {seed: Measured(value, None) for seed, value in enumerate(values)}


def test_seed_differences_decide():
    high, low = seeds(0.5, 0.7, 0.9), seeds(0.3, 0.51, 0.69)
    assert judge_estimate(difference(high, low)).verdict == HOLDS
    assert judge_estimate(difference(low, high)).verdict == FAILS
    assert judge_estimate(difference(low, high), side=-1).verdict == HOLDS
    assert judge_estimate(difference(high, low), bound=0.3).verdict == FAILS
    assert judge_estimate(difference(high, seeds(0.9, 0.5, 0.7))).verdict == UNDECIDED
    assert judge_estimate(difference(high, seeds(0.1))).verdict == ONE_SEED


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


def test_scores_above_the_floor_by_hand():
    low = [floor(0.2), floor(0.3, baseline="unigram"), floor(0.9, "trans", "unigram")]
    low.append(floor(0.1, baseline="other"))
    records = scores("MLM", [0.8, 0.9, 0.85], [0.5, 0.61, 0.54]) + scores("XLM", [0.8, 0.9], [0.3, 0.31])
    made = results(records, *low)
    strongest, gain = above_floor(made, *CELL)
    assert strongest.baseline == "unigram" and gain.mean == pytest.approx(0.25) and not is_at_floor(gain)
    (column,) = task_columns(["DELTA"], [("pos", "accuracy")])
    assert "floor" not in column.cell(made, "MLM", "trans")
    assert column.cell(made, "XLM", "trans").endswith(", ZS at the floor")


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


SD = 0.1
