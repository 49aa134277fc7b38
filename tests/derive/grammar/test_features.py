"""Every order of some items, its features, and the nodes of trees."""

import random
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.grammar.features import (
    SEQUENCE,
    Sequences,
    Tree,
    containing,
    design,
    node_pairs,
    sequences,
)
from calque.derive.sentence import Sentence
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


@st.composite
def trees(draw: st.DrawFn) -> tuple[int, ...]:
    """Heads of a random tree of up to ten words, projective or not."""
    n = draw(st.integers(1, 10))
    rng = random.Random(draw(st.integers(0, 10**6)))
    words = rng.sample(range(n), n)
    heads = [-1] * n
    for i, word in enumerate(words[1:], start=1):
        heads[word] = words[rng.randrange(i)]
    return tuple(heads)


def below(heads: tuple[int, ...], word: int) -> set[int]:
    """The word and all that depends on it."""
    found = {word}
    while more := {i for i, head in enumerate(heads) if head in found} - found:
        found |= more
    return found


@settings(max_examples=300)
@given(trees())
def test_a_subtree_is_whole_when_its_words_are_neighbours(heads: tuple[int, ...]) -> None:
    tree = Tree.of(heads)
    for word in range(len(heads)):
        places = below(heads, word)
        assert tree.whole[word] == (max(places) - min(places) + 1 == len(places))
        assert tree.dependents[word] == [i for i, head in enumerate(heads) if head == word]
    assert sorted(tree.downwards) == list(range(len(heads)))
    assert all(tree.downwards.index(heads[i]) < tree.downwards.index(i) for i in range(len(heads)) if heads[i] >= 0)


@pytest.mark.parametrize(
    ("tags", "heads", "left"),
    [
        ("VERB PUNCT", (-1, 0), 1),
        ("NOUN VERB PUNCT PUNCT", (1, -1, 1, 1), 2),
        ("VERB PUNCT NOUN", (-1, 0, 0), 3),  # a mark inside closes nothing
        ("NOUN PUNCT PUNCT", (1, -1, 1), 2),  # a mark with a dependent is part of the tree
        ("PUNCT PUNCT", (-1, 0), 1),
        ("PUNCT", (-1,), 1),  # something is left of any sentence
    ],
)
def test_closing_marks_are_left_out(tags: str, heads: tuple[int, ...], left: int) -> None:
    n = len(heads)
    sentence = Sentence(tuple(map(str, range(n))), tuple(tags.split()), heads, ("dep",) * n)
    assert Tree.without_closing_marks(sentence) == Tree.of(heads[:left])
