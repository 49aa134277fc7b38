"""What came before, by hashes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from derive.natural.seen import Seen, hashes


@given(st.lists(st.lists(st.integers(0, 60), max_size=20), max_size=12))
def test_what_came_before_is_known_by_brute_force(blocks: list[list[int]]) -> None:
    seen, before = Seen(), set[int]()
    for block in blocks:
        texts = [str(i) for i in block]
        new = seen.new(hashes([texts, [text[::-1] for text in texts]]))
        assert new.tolist() == [i not in before and i not in block[:k] for k, i in enumerate(block)]
        before |= set(block)
    assert hashes([["a", "ab"], ["bc", "c"]])[0] != hashes([["ab"], ["c"]])[0]
    assert hashes([["a"]]).dtype == np.uint64
