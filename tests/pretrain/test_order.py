"""Orders of instances: what each step shows, and what was shown in all."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.pretrain.order import Mixed, Part, in_units, share_rows

PARTS: dict[Part, int] = {("source",): 7, ("trans",): 3, ("inv",): 20}
ALLOWED = {
    ("source",): np.arange(7),
    ("trans",): np.array([7, 9]),
    ("inv",): np.arange(10, 30),
}


def mixed(seed: int) -> Mixed:
    return Mixed(ALLOWED, [0, 9], np.stack([in_units([0.5, 0.1, 0.4]), in_units([0.1, 0.9, 0])]), seed, 0)


@given(st.integers(0, 2**40), st.lists(st.integers(0, 25), min_size=1, max_size=5), st.integers(1, 9))
def test_a_step_is_a_function_of_seed_and_step(seed: int, asked: list[int], rows: int) -> None:
    order = mixed(seed)
    for step in asked:
        assert np.array_equal(order.at(step, rows), mixed(seed).at(step, rows))


@given(st.integers(0, 2**40), st.integers(1, 9))
def test_a_part_is_shown_whole_before_any_of_it_comes_again(seed: int, rows: int) -> None:
    order = mixed(seed)
    shown = np.concatenate([order.at(step, rows) for step in range(60)])
    for instances in ALLOWED.values():
        own = shown[np.isin(shown, instances)]
        for first in range(0, len(own) - len(instances), len(instances)):
            assert sorted(own[first : first + len(instances)]) == instances.tolist()
    assert set(shown.tolist()) <= set(np.concatenate(list(ALLOWED.values())).tolist())


@given(st.integers(1, 300), st.lists(st.integers(0, 10**6), min_size=1, max_size=5).filter(any))
def test_rows_are_shared_out_in_proportion(batch: int, instances: list[int]) -> None:
    rows = share_rows(batch, instances)
    with_any = [n > 0 for n in instances]
    assert [r > 0 for r in rows] == with_any
    if batch >= 2 * len(instances):
        assert sum(rows) == batch
        for r, n in zip(rows, instances, strict=True):
            assert math.isclose(r, batch * n / sum(instances), abs_tol=len(instances))
