"""Special types, whatever their ids are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.types import Specials


@given(st.lists(st.integers(0, 30), min_size=5, max_size=8, unique=True), st.lists(st.integers(0, 40), max_size=20))
def test_special_ids_and_the_others_are_all_ids(ids: list[int], asked: list[int]) -> None:
    specials = Specials(*ids[:5], others=tuple(ids[5:]))
    assert specials.ids == tuple(ids)
    ordinary = specials.ordinary(40)
    assert sorted([*ordinary.tolist(), *ids]) == list(range(40))
    assert ordinary.tolist() == sorted(ordinary.tolist())
    assert specials.is_ordinary(np.array(asked, dtype=np.int64)).tolist() == [one not in ids for one in asked]
