"""Features of a grammar: pairs and sequences of items, at up to three granularities.

A feature is a tuple of strings: its kind, then labels. An item `ADJ amod` has the labels `ADJ`, `amod` and
`ADJ amod`; a pair of items has a feature for each, a sequence for the last one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from derive.grammar.orders import LONGEST_SEQUENCE, columns

Feature = tuple[str, ...]
Weights = Mapping[Feature, float]
Branch = dict[str, "Branch"]

SEQUENCE = "sequence"
BEGIN, END = "<", ">"
SHORTEST_SEQUENCE = 3


def with_marks(items: Sequence[str]) -> tuple[str, ...]:
    """The items by slot, the marks last."""
    return (*items, BEGIN, END)


def pair(kind: str, first: str, second: str) -> tuple[Feature, ...]:
    """The features of a pair of items at the three granularities; a mark is one label at each."""
    (tag, _, relation), (its_tag, _, its_relation) = first.partition(" "), second.partition(" ")
    return (
        (kind, tag, its_tag),
        (kind, relation or tag, its_relation or its_tag),
        (kind, first, second),
    )


def node_pairs(items: Sequence[str]) -> Iterator[tuple[Feature, ...]]:
    """The features of each of `orders.columns`."""
    labels = with_marks(items)
    for kind, i, j in columns(len(items)):
        yield pair(kind, labels[i], labels[j])


def sequences(items: Sequence[str], order: Sequence[int]) -> Iterator[Feature]:
    """The sequences of an order, each as often as it occurs; a node of n items has them up to length min(5, n)."""
    line = [BEGIN, *(items[slot] for slot in order), END]
    for k in range(SHORTEST_SEQUENCE, min(LONGEST_SEQUENCE, len(items)) + 1):
        for start in range(len(line) - k + 1):
            yield (SEQUENCE, *line[start : start + k])


class Sequences:
    """The sequences that a grammar knows, as a tree of labels, to be found among a node's items."""

    def __init__(self, features: Iterable[Feature]) -> None:
        self._root: Branch = {}
        for feature in features:
            branch = self._root
            for label in feature[1:]:
                branch = branch.setdefault(label, {})
            branch[SEQUENCE] = {}

    def among(self, items: Sequence[str]) -> Iterator[tuple[tuple[int, ...], Feature]]:
        """Every way in which the items could stand as a known sequence: its slots, and its feature."""
        n = len(items)
        slots: dict[str, list[int]] = {}
        for slot, label in enumerate(with_marks(items)):
            slots.setdefault(label, []).append(slot)

        def extend(
            branch: Branch, chosen: tuple[int, ...], labels: Feature
        ) -> Iterator[tuple[tuple[int, ...], Feature]]:
            if SEQUENCE in branch:
                yield chosen, (SEQUENCE, *labels)
            if len(chosen) == min(LONGEST_SEQUENCE, n):
                return
            for label, places in slots.items():  # in the order of the slots: sums of floats depend on it
                if label in branch:
                    for slot in places:
                        if slot not in chosen:
                            yield from extend(branch[label], (*chosen, slot), (*labels, label))

        if n >= SHORTEST_SEQUENCE:
            yield from extend(self._root, (), ())
