"""How a step's rows are shared out between the streams of an objective."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from pretrain.objective import share_rows


@given(st.integers(1, 300), st.lists(st.integers(0, 10**6), min_size=1, max_size=5).filter(any))
def test_rows_are_shared_out_in_proportion(batch: int, instances: list[int]) -> None:
    rows = share_rows(batch, instances)
    with_any = [n > 0 for n in instances]
    assert [r > 0 for r in rows] == with_any
    if batch >= 2 * len(instances):
        assert sum(rows) == batch
        for r, n in zip(rows, instances, strict=True):
            assert math.isclose(r, batch * n / sum(instances), abs_tol=len(instances))
