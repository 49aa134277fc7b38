import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.corpus import Corpus
from derive.errors import BadInput
from derive.language import Language
from derive.languages import Languages
from derive.types import OURS
from pretrain.data import PackedLines, Shuffled, fill, line_lengths
from tests.pretrain.made import SENTENCES

FIRST = len(OURS.ids)
"""The first id that is not special."""

LINES = st.lists(st.lists(st.integers(FIRST, 60_000), max_size=30), max_size=40)


def in_memory(lines: list[list[int]]) -> Language:
    """A corpus of one-piece words."""
    starts = np.cumsum([0, *map(len, lines)])
    tokens = np.array([i for line in lines for i in line], np.uint16)
    ones = np.ones(len(tokens), np.uint16)
    return Language("made", 0, Corpus(tokens, starts, starts, ones, ones, np.arange(len(lines))), np.arange(60_001))


@given(LINES, st.integers(8, 40))
def test_packed_rows_are_the_corpus(lines: list[list[int]], length: int) -> None:
    """Against a twin that packs with Python lists."""
    whole = [i for line in lines for i in [*line, OURS.end]]
    rows = [[OURS.start, *whole[a : a + length - 1]] for a in range(0, len(whole) - length + 2, length - 1)]
    if not rows:
        with pytest.raises(BadInput, match="does not fill one row"):
            PackedLines(in_memory(lines), OURS, length)
        return
    packed = PackedLines(in_memory(lines), OURS, length)
    assert [packed.row(i).tolist() for i in range(len(packed))] == rows
    assert packed.left_over == len(whole) - len(rows) * (length - 1)


def test_packed_rows_of_a_corpus_on_disk(languages: Languages) -> None:
    packed = PackedLines(languages.languages[1], OURS, 32)
    rows = np.stack([packed.row(i) for i in range(len(packed))])
    assert rows.dtype == np.int64
    assert (rows[:, 0] == OURS.start).all()
    kept = rows[:, 1:].ravel()
    assert np.array_equal(kept[kept != OURS.end], languages.languages[1].corpus.tokens[: (kept != OURS.end).sum()])


@given(st.integers(1, 50), st.integers(0, 2**40), st.integers(0, 200), st.integers(0, 120))
def test_shuffled_visits_each_instance_once_an_epoch(size: int, seed: int, start: int, count: int) -> None:
    order = Shuffled(size, seed, 0)
    epochs = order.take(0, 8 * size).reshape(8, size)
    assert (np.sort(epochs) == np.arange(size)).all()
    assert size < 10 or len({tuple(epoch) for epoch in epochs.tolist()}) == 8
    # From anywhere, by anyone: what is taken depends on the place alone.
    far = Shuffled(size, seed, 0).take(0, start + count)
    assert np.array_equal(order.take(start, count), far[start:])


def test_lines_are_as_long_as_what_is_read_of_them(languages: Languages) -> None:
    (bitext,) = languages.bitexts
    lengths = line_lengths(bitext)
    assert lengths.tolist() == [[len(side) for side in bitext.ids(pair)] for pair in range(len(lengths))]
    assert len(lengths) == SENTENCES


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40), st.integers(9, 30))
def test_groups_are_as_large_as_fits(lengths: list[tuple[int, int]], room: int) -> None:
    sides = np.array(lengths, np.int64).reshape(-1, 2)
    groups = fill(sides, room)
    assert [i for first, last in groups for i in range(first, last)] == list(range(len(lengths)))
    for first, last in groups:
        assert first < last
        assert (sides[first:last].sum(0) <= room).all()
        assert last == len(lengths) or (sides[first : last + 1].sum(0) > room).any()
    assert fill(sides[:, 0], room) == fill(sides[:, [0, 0]], room)
