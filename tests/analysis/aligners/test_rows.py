"""Rows in batches of like length, held against one row at a time."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
import torch

from analysis.aligners import batches
from analysis.aligners.encoder import Encoder, Precision
from analysis.aligners.rows import EncodedRows, Stretches

ROWS: list[Stretches] = [
    [(0, [7, 8]), (1, [9, 10, 11])],
    (),
    [(0, [5])],
    [(0, [9, 8, 7]), (1, [6, 7])],
    [(0, [4]), (1, []), (1, [12] * 9)],
    [(0, [5])],
]


@pytest.mark.parametrize("most", [4, 2048])
@pytest.mark.parametrize("layers", [{2}, {0, 1, 3}])
def test_rows_hold_what_each_alone_holds(
    bert: Path, layers: set[int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST", most)
    encoder = Encoder(bert)
    made = EncodedRows(encoder, ROWS, layers)
    for number, row in enumerate(ROWS):
        ids = list(chain.from_iterable(stretch for _, stretch in row))
        if not ids:
            continue
        alone = encoder([ids], [[kind for kind, stretch in row for _ in stretch]])
        for layer in layers:
            whole = made.part(layer, [number], [0], len(ids))
            torch.testing.assert_close(whole, alone[layer], atol=1e-5, rtol=1e-5)
            assert torch.equal(made.part(layer, [number], [len(ids) - 1], 1)[0, 0], whole[0, -1])


def test_parts_of_rows_may_begin_anywhere_and_reach_beyond_the_end(bert: Path) -> None:
    made = EncodedRows(Encoder(bert, 1), ROWS, {1})
    part = made.part(1, [4, 0], [2, 1], 20)
    assert part.shape == (2, 20, 32)
    assert torch.equal(part[0, :8], made.part(1, [4], [0], 10)[0, 2:])
    assert torch.equal(part[1, :4], made.part(1, [0], [0], 5)[0, 1:])


@pytest.mark.parametrize(("precision", "bits"), [("float32", 1e-5), ("bfloat16", 0.1)])
def test_states_are_float32_whatever_they_were_computed_with(bert: Path, precision: Precision, bits: float) -> None:
    exact = EncodedRows(Encoder(bert), ROWS, {3}).part(3, [0], [0], 5)
    states = EncodedRows(Encoder(bert, precision=precision), ROWS, {3}).part(3, [0], [0], 5)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, exact, atol=bits, rtol=bits)
    assert torch.equal(states, exact) == (precision == "float32")
