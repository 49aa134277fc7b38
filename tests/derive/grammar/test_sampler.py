"""Draws against the probabilities that they follow."""

import random
from collections import Counter
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.grammar.model import Sampler
from tests.derive.grammar.made import node, random_grammar


def test_draws_follow_the_probabilities() -> None:
    items = node(4, 1)
    grammar = random_grammar([items])
    sampler, rng, draws = Sampler(grammar), random.Random(0), 100_000
    seen = Counter(sampler(items, rng.random()) for _ in range(draws))
    for order, p in zip(permutations(range(4)), grammar.probabilities(items), strict=True):
        assert abs(seen[order] / draws - p) <= 4 * (p * (1 - p) / draws) ** 0.5


@settings(max_examples=200)
@given(st.floats(0, 1, exclude_max=True), st.integers(2, 6), st.integers(0, 5))
def test_a_draw_is_the_order_in_whose_share_the_number_falls(u: float, n: int, seed: int) -> None:
    items = node(n, seed)
    grammar = random_grammar([items], seed)
    order = list(permutations(range(n))).index(Sampler(grammar)(items, u))
    ends = np.cumsum(grammar.probabilities(items))
    assert u <= ends[order] + 1e-12
    assert order == 0 or u >= ends[order - 1] - 1e-12


def test_every_number_below_1_picks_an_order() -> None:
    """Shares add up to 1 but for rounding, so the last number may lie behind them all."""
    nodes = [node(n, seed) for n in (4, 5) for seed in range(10)]
    sampler, last = Sampler(random_grammar(nodes)), 1 - 2**-53
    assert any(sampler.cumulative(items)[-1] <= last for items in nodes)
    assert all(sorted(sampler(items, last)) == list(range(len(items))) for items in nodes)
