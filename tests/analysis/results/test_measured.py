import math

import pytest

from calque.analysis.records.record import Items, Record
from calque.analysis.results.measured import Measured, average, difference, gap, judge_difference
from calque.analysis.statistics.intervals import item_error
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED


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
    one, other = (
        score(hits, of, task="pos", language="fr"),
        score([*hits[1:], 1], of, task="ner", language="fr"),
    )
    same = score([*hits[1:], 1], of, task="pos", language="fr")
    apart, paired = gap([{0: one}], [{0: other}]), gap([{0: one}], [{0: same}])
    assert apart.error == pytest.approx(math.hypot(one.error or 0, other.error or 0))
    assert paired.error == pytest.approx((one - same).error) and (paired.error or 1) < 0.1 * (
        apart.error or 0
    )
    mean_error = average([{0: one}, {0: other}])[0].error
    assert mean_error == pytest.approx(math.hypot(one.error or 0, other.error or 0) / 2)


def seeds(*values):
    return {seed: Measured(value, None) for seed, value in enumerate(values)}


def test_seed_differences_decide():
    high, low = seeds(0.5, 0.7, 0.9), seeds(0.3, 0.51, 0.69)
    assert judge_difference(high, low).verdict == HOLDS
    assert (
        judge_difference(low, high).verdict == FAILS and judge_difference(low, high, side=-1).verdict == HOLDS
    )
    assert judge_difference(high, low, bound=0.3).verdict == FAILS
    assert judge_difference(high, seeds(0.9, 0.5, 0.7)).verdict == UNDECIDED
    assert judge_difference(high, seeds(0.1)).verdict == ONE_SEED
