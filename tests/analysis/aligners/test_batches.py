"""Pairs cut to a model's rows and put into batches, and rows encoded together: as each alone."""

import random
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.aligners import pair_encoder as module
from calque.analysis.aligners.pair_encoder import PairEncoder, batches

words = st.lists(st.lists(st.integers(5, 99), max_size=3), max_size=12)


@given(words, words, st.integers(6, 20), st.booleans())
def test_what_is_shown_is_the_beginning_of_either_side(
    source: list[list[int]], target: list[list[int]], length: int, joint: bool
) -> None:
    marks, encoder = (3 if joint else 2), SimpleNamespace(length=length)
    shown = PairEncoder(encoder, ([0], [1]), joint=joint).cut((source, target), 4)  # type: ignore[arg-type]
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
