import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.corpus import Corpus, Ragged
from calque.derive.errors import BadInput
from calque.derive.languages import Language
from calque.derive.vocabulary import OURS
from calque.pretrain.config import UNIT, Order, Shuffled, in_units, share_rows
from calque.pretrain.objectives.mlm import PackedLines

PARTS = {("source",): 7, ("trans",): 3, ("inv",): 20}
INSTANCES = np.split(np.arange(30), (7, 10))
shares = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=7)


def mixed(seed, rows):
    return Order(PARTS, 30, rows, [0.5, 0.1, 0.4], seed, 0)


def apportioned(shares, rows):
    return Order({(f"{i}",): 1 for i in range(len(shares))}, len(shares), rows, shares, 0)


@given(st.integers(0, 2**40), st.lists(st.integers(0, 25), min_size=1, max_size=5), st.integers(1, 9))
def test_batches_depend_only_on_seed_and_step(seed, steps, rows):
    order = mixed(seed, rows)
    for step in steps:
        assert np.array_equal(order.at(step), mixed(seed, rows).at(step))


@given(st.integers(0, 2**40), st.integers(1, 9))
def test_parts_repeat_only_after_a_full_epoch(seed, rows):
    order = mixed(seed, rows)
    drawn = np.concatenate([order.at(step) for step in range(60)])
    for instances, count in zip(INSTANCES, order.upto(60).tolist(), strict=True):
        own = drawn[np.isin(drawn, instances)]
        assert len(own) == count
        for first in range(0, len(own) - len(instances), len(instances)):
            assert sorted(own[first : first + len(instances)]) == instances.tolist()


@given(st.integers(1, 300), st.lists(st.integers(0, 10**6), min_size=1, max_size=5).filter(any))
def test_rows_are_shared_out_in_proportion(batch, instances):
    rows = share_rows(batch, instances)
    assert [r > 0 for r in rows] == [n > 0 for n in instances]
    if batch >= 2 * len(instances):
        assert sum(rows) == batch
        for r, n in zip(rows, instances, strict=True):
            assert math.isclose(r, batch * n / sum(instances), abs_tol=len(instances))


@settings(max_examples=300)
@given(shares, st.integers(1, 9))
def test_parts_stay_within_a_row_of_their_share(shares, rows):
    units = in_units(shares)
    order, before = apportioned(shares, rows), np.zeros(len(units), np.int64)
    for step in range(1, 61):
        had = order.upto(step)
        assert had.sum() == rows * step
        assert (had >= before).all()
        exact = [Fraction(rows * step * own, UNIT) for own in units.tolist()]
        assert all(abs(count - due) < 1 for count, due in zip(had.tolist(), exact, strict=True))
        before = had


@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=200))
def test_units_are_whole_and_sum_to_one(shares):
    units = in_units(shares)
    assert units.sum() == UNIT and (units >= 0).all()
    exact = np.array(shares) / np.sum(shares) * UNIT
    assert (np.abs(units - exact) <= len(shares)).all()


@pytest.mark.parametrize(
    ("shares", "units"),
    [
        ((0.9, 0.1), (900_000_000, 100_000_000)),
        ((0.29, 0.71), (290_000_000, 710_000_000)),
        ((9, 1, 0), (9, 1, 0)),
    ],
)
def test_decimal_shares_are_exact(shares, units):
    assert in_units(shares).tolist() == [unit * (UNIT // sum(units)) for unit in units]


FIRST = len(OURS.ids)

LINES = st.lists(st.lists(st.integers(FIRST, 60_000), max_size=30), max_size=40)


def in_memory(lines):
    starts = np.cumsum([0, *map(len, lines)])
    tokens = np.array([i for line in lines for i in line], np.uint16)
    ones = Ragged(np.ones(len(tokens), np.uint16), starts)
    corpus = Corpus(Ragged(tokens, starts), ones, ones, np.arange(len(lines)))
    return Language("made", 0, corpus, np.arange(60_001))


@given(LINES, st.integers(8, 40))
def test_packed_rows_make_up_the_corpus(lines, length):
    whole = [i for line in lines for i in [*line, OURS.end]]
    rows = [[OURS.start, *whole[a : a + length - 1]] for a in range(0, len(whole) - length + 2, length - 1)]
    if not rows:
        with pytest.raises(BadInput, match="too few for a row"):
            PackedLines(in_memory(lines), OURS, length)
        return
    packed = PackedLines(in_memory(lines), OURS, length)
    assert [packed.row(i).tolist() for i in range(len(packed))] == rows
    assert packed.left_over == len(whole) - len(rows) * (length - 1)


def test_packing_memory_does_not_grow_with_lines():
    made = in_memory([[FIRST]] * 100_000)
    tracemalloc.start()
    try:
        packed = PackedLines(made, OURS, 64)
        for row in range(0, len(packed), 97):
            packed.row(row)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < made.corpus.tokens.ends.nbytes / 50


@given(st.integers(1, 50), st.integers(0, 2**40), st.integers(0, 200), st.integers(0, 120))
def test_shuffled_visits_each_instance_once_an_epoch(size, seed, start, count):
    order = Shuffled(size, seed, 0)
    epochs = order.take(0, 8 * size).reshape(8, size)
    assert (np.sort(epochs) == np.arange(size)).all()
    assert size < 10 or len({tuple(epoch) for epoch in epochs.tolist()}) == 8
    # The result depends only on the position.
    far = Shuffled(size, seed, 0).take(0, start + count)
    assert np.array_equal(order.take(start, count), far[start:])
