import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.corpus import Corpus
from calque.derive.errors import BadInput
from calque.derive.language import Language
from calque.derive.types import OURS
from calque.pretrain.objectives.mlm import PackedLines
from calque.pretrain.shuffle import Shuffled

FIRST = len(OURS.ids)

LINES = st.lists(st.lists(st.integers(FIRST, 60_000), max_size=30), max_size=40)


def in_memory(lines):
    starts = np.cumsum([0, *map(len, lines)])
    tokens = np.array([i for line in lines for i in line], np.uint16)
    ones = np.ones(len(tokens), np.uint16)
    return Language(
        "made", 0, Corpus(tokens, starts, starts, ones, ones, np.arange(len(lines))), np.arange(60_001)
    )


@given(LINES, st.integers(8, 40))
def test_packed_rows_are_the_corpus(lines, length):
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
    assert peak < made.corpus.lines.nbytes / 50


@given(st.integers(1, 50), st.integers(0, 2**40), st.integers(0, 200), st.integers(0, 120))
def test_shuffled_visits_each_instance_once_an_epoch(size, seed, start, count):
    order = Shuffled(size, seed, 0)
    epochs = order.take(0, 8 * size).reshape(8, size)
    assert (np.sort(epochs) == np.arange(size)).all()
    assert size < 10 or len({tuple(epoch) for epoch in epochs.tolist()}) == 8
    # The result depends only on the position.
    far = Shuffled(size, seed, 0).take(0, start + count)
    assert np.array_equal(order.take(start, count), far[start:])
