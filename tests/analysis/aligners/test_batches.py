"""Pairs cut to a model's rows and put into batches, and rows encoded together: as each alone."""

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.aligners import pair_encoder as module
from calque.analysis.aligners.encoder import Encoder
from calque.analysis.aligners.pair_encoder import CutSide, PairEncoder, RowRoom, batches, row_batches
from calque.derive.links.aligner import LeftOut

words = st.lists(st.lists(st.integers(5, 99), max_size=3), max_size=12)


@given(words, words, st.integers(6, 20), st.booleans())
def test_what_is_shown_is_the_beginning_of_either_side(
    source: list[list[int]], target: list[list[int]], length: int, joint: bool
) -> None:
    marks, left_out = (3 if joint else 2), LeftOut()
    shown = RowRoom(length, marks, joint).cut((source, target), 4, left_out)
    sizes = []
    for side, part in zip((source, target), shown, strict=True):
        flat = [i for word in side for i in word]
        of = [number for number, word in enumerate(side) for _ in word]
        assert part.ids == flat[: len(part.ids)]
        assert part.word.tolist() == of[: len(part.ids)]
        sizes.append((len(part.ids), len(flat)))
    (kept, whole), (kept_too, whole_too) = sizes
    room = length - marks
    if joint:
        assert kept + kept_too == min(room, whole + whole_too)  # nothing is left out for which there is room
        assert kept == whole or kept >= room // 2  # the longer side gives up its end first
        assert kept_too == whole_too or kept_too >= room // 2
    else:
        assert (kept, kept_too) == (min(room, whole), min(room, whole_too))


def pairs(sizes: list[tuple[int, int]]) -> list[tuple[CutSide, CutSide]]:
    return [(CutSide([7] * n, np.arange(n)), CutSide([8] * m, np.arange(m))) for n, m in sizes]


def test_batches_are_of_like_length_and_hold_no_more_than_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(0)
    sizes = [(random.randrange(20), random.randrange(20)) for _ in range(200)]
    monkeypatch.setattr(module, "CELLS", 120)
    made = list(batches(sizes))
    taken = [i for batch in made for i in batch]
    assert sorted(taken) == [i for i, (n, m) in enumerate(sizes) if n and m]
    assert [sum(sizes[i]) for i in taken] == sorted(sum(sizes[i]) for i in taken)
    widths = [len(batch) * (max(sizes[i][0] for i in batch) + max(sizes[i][1] for i in batch)) for batch in made]
    assert max(widths) <= 120
    for batch, after in pairwise(made):  # another pair would not have fitted
        more = [*batch, after[0]]
        assert len(more) * (max(sizes[i][0] for i in more) + max(sizes[i][1] for i in more)) > 120


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 60), st.integers(60, 120))
def test_rows_of_one_length_share_batches_and_only_small_ones_have_padding(
    lengths: list[int], least: int, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "LEAST", least)
        patched.setattr(module, "MOST", most)
        made = [batch.tolist() for batch in row_batches(np.array(lengths, np.int64))]
    taken = [i for batch in made for i in batch]
    assert sorted(taken) == list(range(len(lengths)))
    sizes = [[lengths[i] for i in batch] for batch in made]
    assert [size for batch in sizes for size in batch] == sorted(lengths)
    for batch in sizes:
        assert len(batch) * max(batch) <= most or len(batch) == 1
        for number, (shorter, longer) in enumerate(pairwise(batch), start=1):
            assert shorter == longer or number * shorter < least
    for batch, after in pairwise(sizes):  # another row would not have fitted, or would have made padding
        full = (len(batch) + 1) * after[0] > most
        assert full or (after[0] > batch[-1] and len(batch) * batch[-1] >= least)


SIDES = pairs([(2, 3), (0, 0), (1, 0), (4, 4), (10, 1), (2, 3)])


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("most", [4, 2048])
@pytest.mark.parametrize("layers", [{2}, {0, 1, 3}])
def test_sides_have_the_states_that_each_pair_alone_has(
    bert: Path, layers: set[int], most: int, joint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", most)
    encoder = Encoder(bert)
    states = PairEncoder(encoder, ([2], [3]), (0, 1), joint).side_states(SIDES, layers)
    assert {pair for _, pair, _ in states} == {0, 3, 4, 5}
    for (layer, pair, number), own in states.items():
        source, target = (side.ids for side in SIDES[pair])
        if joint:
            row, second = [2, *source, 3, *target, 3], 2 + len(source)
            kinds = [0] * second + [1] * (len(target) + 1)
            first = 1 + number * (len(source) + 1)
        else:
            row, first = [2, *SIDES[pair][number].ids, 3], 1
            kinds = [number] * len(row)
        alone = encoder([row], [kinds])[layer][0, first : first + len(SIDES[pair][number].ids)]
        torch.testing.assert_close(own, alone, atol=1e-5, rtol=1e-5)
