"""The nodes whose items a grammar orders, and features of these orders.

A pair of items has one feature per granularity (tag, relation, both); a sequence of items has one feature.
Slots are indices of items: n - 1 is the head, n the boundary mark before all items, n + 1 the mark after
them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise, permutations
from typing import Self

import numpy as np

from calque.derive.sentence import Sentence

Feature = tuple[str, ...]
Slots = tuple[int, ...]
Weights = Mapping[Feature, float]
Branch = dict[str, "Branch"]

KINDS = ADJACENT, ORDERED, BEFORE, AROUND, AFTER = ("adjacent", "ordered", "before", "around", "after")
"""Kinds of item pairs: adjacent items or marks; items in this order; both before, around or after the
head."""
SEQUENCE = "sequence"
SHORTEST_SEQUENCE, LONGEST_SEQUENCE = 3, 5
BEGIN, END = "<", ">"


@cache
def orders(n: int) -> list[tuple[int, ...]]:
    """Return all n! permutations of `n` slots, in lexicographic order."""
    return list(permutations(range(n)))


@cache
def _places(n: int) -> np.ndarray:
    inner = np.argsort(np.array(orders(n), dtype=np.int8), axis=1).astype(np.int8)
    outer = np.broadcast_to(np.array([-1, n], dtype=np.int8), (len(inner), 2))
    return np.concatenate([inner, outer], axis=1)


@cache
def columns(n: int) -> list[tuple[str, int, int]]:
    """List all pairs of slots that may have a feature, as (kind, slot, slot)."""
    ordered_pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    dependents = [(i, j) for i, j in ordered_pairs if n - 1 not in (i, j)]
    marks = [(n, j) for j in range(n)] + [(i, n + 1) for i in range(n)]
    return (
        [(ADJACENT, i, j) for i, j in ordered_pairs + marks]
        + [(ORDERED, i, j) for i, j in ordered_pairs]
        + [(kind, i, j) for kind in (BEFORE, AROUND, AFTER) for i, j in dependents]
    )


@cache
def design(n: int) -> np.ndarray:
    """Return which of the `columns` apply to each order, (n!, columns) float64 zeros and ones."""
    place, head = _places(n), _places(n)[:, n - 1]
    has = {
        ADJACENT: lambda i, j: place[:, j] == place[:, i] + 1,
        ORDERED: lambda i, j: place[:, i] < place[:, j],
        BEFORE: lambda i, j: (place[:, i] < place[:, j]) & (place[:, j] < head),
        AROUND: lambda i, j: (place[:, i] < head) & (head < place[:, j]),
        AFTER: lambda i, j: (head < place[:, i]) & (place[:, i] < place[:, j]),
    }
    return np.stack([has[kind](i, j) for kind, i, j in columns(n)], axis=1).astype(np.float64)


@lru_cache(maxsize=1 << 16)
def containing(n: int, slots: Slots) -> np.ndarray:
    """Return the indices of all orders that keep the given slots (possibly marks) consecutive."""
    place = _places(n)
    neighbours = [place[:, after] == place[:, before] + 1 for before, after in pairwise(slots)]
    return np.flatnonzero(np.logical_and.reduce(neighbours))


def pair(kind: str, first: str, second: str) -> tuple[Feature, ...]:
    """Return a pair's features at the three granularities; a mark's label is the same at each."""
    (tag, _, relation), (its_tag, _, its_relation) = first.partition(" "), second.partition(" ")
    return (kind, tag, its_tag), (kind, relation or tag, its_relation or its_tag), (kind, first, second)


def node_pairs(items: Sequence[str]) -> Iterator[tuple[Feature, ...]]:
    """Yield the features of each pair of a node's items, in the order of `columns`."""
    labels = (*items, BEGIN, END)
    for kind, i, j in columns(len(items)):
        yield pair(kind, labels[i], labels[j])


def sequences(items: Sequence[str], order: Sequence[int]) -> Iterator[Feature]:
    """Yield all sequences of 3 to min(5, n) consecutive labels, including repeated ones, in an order of n
    items."""
    line = [BEGIN, *(items[slot] for slot in order), END]
    for k in range(SHORTEST_SEQUENCE, min(LONGEST_SEQUENCE, len(items)) + 1):
        for start in range(len(line) - k + 1):
            yield (SEQUENCE, *line[start : start + k])


class Sequences:
    """A trie of a grammar's label sequences, to be matched against a node's items."""

    def __init__(self, features: Iterable[Feature]) -> None:
        self._root: Branch = {}
        for feature in features:
            branch = self._root
            for label in feature[1:]:
                branch = branch.setdefault(label, {})
            branch[SEQUENCE] = {}

    def among(self, items: Sequence[str]) -> Iterator[tuple[Slots, Feature]]:
        """Yield the slots and the feature for every way to form one of the sequences from the items."""
        n = len(items)
        slots: dict[str, list[int]] = {}
        for slot, label in enumerate((*items, BEGIN, END)):
            slots.setdefault(label, []).append(slot)

        def extend(branch: Branch, chosen: Slots, labels: Feature) -> Iterator[tuple[Slots, Feature]]:
            if SEQUENCE in branch:
                yield chosen, (SEQUENCE, *labels)
            if len(chosen) == min(LONGEST_SEQUENCE, n):
                return
            for label, places in slots.items():  # in a fixed order: floating-point sums depend on it
                if label in branch:
                    for slot in places:
                        if slot not in chosen:
                            yield from extend(branch[label], (*chosen, slot), (*labels, label))

        if n >= SHORTEST_SEQUENCE:
            yield from extend(self._root, (), ())


CLASSES = {"NOUN": "NOUN", "PROPN": "NOUN", "PRON": "NOUN", "VERB": "VERB"}
"""The class of each head's tag. Each class has its own weights; nodes with other heads keep their order."""
MOST = 7  # maximum number of items in a node, including the head (5,040 orders)


@dataclass(frozen=True, slots=True)
class Tree:
    """Each word's dependents, all words from the root downwards, and whether each subtree is contiguous."""

    dependents: list[list[int]]
    downwards: list[int]
    whole: list[bool]

    @classmethod
    def of(cls, heads: tuple[int, ...]) -> Self:
        """Build the tree from 0-based heads; the root's head is -1."""
        n = len(heads)
        dependents: list[list[int]] = [[] for _ in range(n)]
        downwards: list[int] = []
        for word, head in enumerate(heads):
            if head < 0:
                downwards.append(word)
            else:
                dependents[head].append(word)
        for word in downwards:  # grows during the loop
            downwards += dependents[word]
        first, last, size = list(range(n)), list(range(n)), [1] * n
        for word in reversed(downwards):
            if (head := heads[word]) >= 0:
                size[head] += size[word]
                first[head] = min(first[head], first[word])
                last[head] = max(last[head], last[word])
        return cls(dependents, downwards, [last[i] - first[i] + 1 == size[i] for i in range(n)])

    @classmethod
    def without_closing_marks(cls, sentence: Sentence) -> Self:
        """Build the tree without final punctuation, because items do not distinguish commas from full
        stops."""
        end = len(sentence)
        leaves = set(range(end)).difference(sentence.heads)
        while end > 1 and sentence.tags[end - 1] == "PUNCT" and end - 1 in leaves:
            end -= 1
        return cls.of(sentence.heads[:end])

    def crossed(self, head: int) -> bool:
        """Whether the subtree of `head`, or of one of its dependents, is discontiguous."""
        return not (self.whole[head] and all(self.whole[word] for word in self.dependents[head]))


@cache
def item(tag: str, relation: str) -> str:
    """Return a dependent's label, such as `ADJ amod`; subtypes of relations differ between treebanks."""
    return f"{tag} {relation.partition(':')[0]}"


def head_item(tag: str) -> str:
    """Return the item of a head, which has a tag but no relation."""
    return f"@{tag} @"


def ranked(sentence: Sentence, tree: Tree, head: int) -> tuple[list[int], tuple[str, ...]]:
    """Return a head's dependents, sorted by item, followed by the head, and the items of all these words."""
    labels = {word: item(sentence.tags[word], sentence.relations[word]) for word in tree.dependents[head]}
    words = sorted(labels, key=labels.__getitem__)
    return [*words, head], (*map(labels.__getitem__, words), head_item(sentence.tags[head]))


def nodes(sentence: Sentence, tree: Tree) -> Iterator[tuple[str, tuple[str, ...], Slots]]:
    """Yield the tag of each head that belongs to a class, the items of its `ranked` node, and their slots in
    sentence order."""
    for head in tree.downwards:
        if tree.dependents[head] and sentence.tags[head] in CLASSES:
            words, items = ranked(sentence, tree, head)
            slots = {word: slot for slot, word in enumerate(words)}
            yield sentence.tags[head], items, tuple(slots[word] for word in sorted(slots))
