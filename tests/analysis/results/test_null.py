from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.report.claims import MOST, NOMINAL, null_rates, pooled, splits
from tests.analysis.runs import number
from tests.analysis.toy import OBJECTIVES, joined

SD = 0.1


def of_nothing(cells, seeds, items):
    random, records = np.random.default_rng(1), []
    for cell in range(cells):
        transform, objective = f"trans-{1 + cell // len(OBJECTIVES)}", OBJECTIVES[cell % len(OBJECTIVES)]
        for seed in range(seeds):
            score = float(np.clip(random.normal(0.5, SD), 0, 1))
            records.append(number(transform, objective, seed, "ZS", "pos", "accuracy", score, items))
    return records


def test_null_error_rates_match_the_nominal_level():
    rates = pooled(null_rates(joined(of_nothing(cells=40, seeds=6, items=5_000))))
    assert set(rates) == {1, 2, 3}
    assert rates[1].over == "items" and rates[1].share.mean > 0.8 and rates[1].against_nominal == "too often"
    for size in (2, 3):
        rate = rates[size]
        assert (rate.over, rate.comparisons, rate.cells) == ("seeds", 40 * MOST, 40)
        assert rate.share.mean == pytest.approx(NOMINAL, abs=0.03)
        assert rate.share.mean == pytest.approx(rate.different / rate.comparisons)
        assert rate.against_nominal == "as nominal"


SEEDS = st.lists(st.integers(0, 99), min_size=1, max_size=6, unique=True)


def undirected(split):
    return frozenset({frozenset(split), frozenset((second, first) for first, second in split)})


@given(SEEDS, st.integers(1, 3))
def test_splits_are_unique_and_share_no_seed(seeds, size):
    every = splits(seeds, size, 10_000)
    orders = permutations(seeds, 2 * size)
    by_force = {undirected(tuple(zip(some[:size], some[size:], strict=True))) for some in orders}
    assert {undirected(split) for split in every} == by_force
    assert len(every) == len(by_force)
    for split in every:
        flat = [seed for pair in split for seed in pair]
        assert len(flat) == len(set(flat)) == 2 * size
        assert min(flat) == split[0][0]
