"""Features of a node, beside those that the definition writes out."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from derive.grammar.features import SEQUENCE, Sequences, containing, design, node_pairs, sequences
from tests.derive.grammar import twin
from tests.derive.grammar.made import node

NODES = [node(n, seed) for n in (2, 3, 4, 5, 6) for seed in range(2)]


@pytest.mark.parametrize("items", NODES)
def test_an_order_has_the_features_of_the_definition(items: tuple[str, ...]) -> None:
    pairs, has = list(node_pairs(items)), design(len(items))
    for number, order in enumerate(permutations(range(len(items)))):
        found = Counter(sequences(items, order))
        for present, triple in zip(has[number], pairs, strict=True):
            if present:
                found.update(triple)
        assert found == Counter(twin.features(items, order))


@pytest.mark.parametrize("items", NODES)
def test_known_sequences_are_found_wherever_an_order_has_them(items: tuple[str, ...]) -> None:
    orders = list(permutations(range(len(items))))
    known = {feature for order in orders[::3] for feature in sequences(items, order)}
    found: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for slots, feature in Sequences(known).among(items):
        assert feature[0] == SEQUENCE and feature in known
        found.update((int(number), feature) for number in containing(len(items), slots))
    expected = Counter(
        (number, feature)
        for number, order in enumerate(orders)
        for feature in sequences(items, order)
        if feature in known
    )
    assert found == expected


def test_a_grammar_without_sequences_finds_none() -> None:
    assert list(Sequences([]).among(node(5, 0))) == []
