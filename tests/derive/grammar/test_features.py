"""Every order of some items, its features, and the nodes of trees."""

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.grammar.features import (
    SEQUENCE,
    Sequences,
    Tree,
    containing,
    design,
    head_item,
    node_pairs,
    nodes,
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


@settings(max_examples=300)
@given(trees())
def test_projective_is_without_crossing_arcs(heads: tuple[int, ...]) -> None:
    arcs = [(min(i, head), max(i, head)) for i, head in enumerate(heads) if head >= 0]
    root = heads.index(-1)
    arcs.append((-1, root))  # an arc to the root from before the sentence
    crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert all(Tree.of(heads).whole) == (not crossing)


@settings(max_examples=200)
@given(trees(), st.integers(0, 1000))
def test_nodes_say_what_stands_where(heads: tuple[int, ...], seed: int) -> None:
    rng = random.Random(seed)
    tags = tuple(rng.choice(("NOUN", "VERB", "ADJ", "PRON")) for _ in heads)
    relations = tuple(rng.choice(("nsubj", "obl:tmod", "obl")) for _ in heads)
    sentence = Sentence(tuple(map(str, range(len(heads)))), tags, heads, relations)
    found = list(nodes(sentence, Tree.of(heads)))
    ordered = [i for i in range(len(heads)) if i in heads and tags[i] != "ADJ"]
    assert len(found) == len(ordered)
    lines = sorted(
        [
            head_item(tags[head]) if word == head else f"{tags[word]} {relations[word].split(':')[0]}"
            for word in sorted([head, *(i for i, above in enumerate(heads) if above == head)])
        ]
        for head in ordered
    )
    assert sorted([items[slot] for slot in order] for _, items, order in found) == lines
    for tag, items, _ in found:
        assert items[-1] == head_item(tag)
        assert list(items[:-1]) == sorted(items[:-1])


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


@pytest.mark.parametrize("slots", [(0, 1, 2), (4, 2, 0), (1, 3, 5), (4, 0, 1, 2, 3, 5)])
def test_orders_that_contain_some_slots_in_a_row(slots: tuple[int, ...]) -> None:
    lines = [(4, *order, 5) for order in permutations(range(4))]
    expected = [
        number
        for number, line in enumerate(lines)
        if any(line[at : at + len(slots)] == slots for at in range(len(line)))
    ]
    assert np.array_equal(containing(4, slots), expected)
