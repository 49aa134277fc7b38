"""The nodes of a tree that a grammar orders: a head, its dependents, and whether their words stand together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from derive.sentence import Sentence

CLASSES = {"NOUN": "NOUN", "PROPN": "NOUN", "PRON": "NOUN", "VERB": "VERB"}
"""The class of a head by its tag: each class has weights of its own, and heads of other tags are not ordered."""
MOST = 7
"""Items of a node, its head among them, that are ordered at most: 5,040 orders."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The dependents of each word in their order, the words from the root downwards, and whose words stand together.

    `whole[i]` says whether word i and all that depends on it, directly or not, are neighbours.
    """

    dependents: list[list[int]]
    downwards: list[int]
    whole: list[bool]

    @classmethod
    def of(cls, heads: tuple[int, ...]) -> Tree:
        """The tree of some heads, which count from 0; the root's is -1."""
        n = len(heads)
        dependents: list[list[int]] = [[] for _ in range(n)]
        downwards: list[int] = []
        for word, head in enumerate(heads):
            if head < 0:
                downwards.append(word)
            else:
                dependents[head].append(word)
        for word in downwards:  # which grows on the way
            downwards += dependents[word]
        first, last, size = list(range(n)), list(range(n)), [1] * n
        for word in reversed(downwards):
            if (head := heads[word]) >= 0:
                size[head] += size[word]
                first[head] = min(first[head], first[word])
                last[head] = max(last[head], last[word])
        return cls(dependents, downwards, [last[i] - first[i] + 1 == size[i] for i in range(n)])

    @classmethod
    def without_closing_marks(cls, sentence: Sentence) -> Tree:
        """The tree of a sentence but for the punctuation that closes it, which no grammar orders.

        An item does not tell a comma from a full stop: those before a participle would teach full stops to go first.
        """
        end = len(sentence)
        leaves = set(range(end)).difference(sentence.heads)
        while end > 1 and sentence.tags[end - 1] == "PUNCT" and end - 1 in leaves:
            end -= 1
        return cls.of(sentence.heads[:end])

    @property
    def projective(self) -> bool:
        """Whether no arc crosses another."""
        return all(self.whole)

    def crossed(self, head: int) -> bool:
        """Whether other words stand between the node's own, or between those of one of its dependents."""
        return not (self.whole[head] and all(self.whole[word] for word in self.dependents[head]))


@cache
def item(tag: str, relation: str) -> str:
    """A dependent as a grammar sees it, `ADJ amod`: the relation without its subtype: each treebank has its own."""
    return f"{tag} {relation.partition(':')[0]}"


def head_item(tag: str) -> str:
    """The head of a node among its items."""
    return f"@{tag} @"


def nodes(sentence: Sentence, tree: Tree) -> Iterator[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    """Every node that a grammar could order, however large: tag of the head, items, order.

    Items are sorted, the head's comes last; the order gives the slot of the first word, the second, ...
    """
    for head in tree.downwards:
        words, tag = tree.dependents[head], sentence.tags[head]
        if not words or tag not in CLASSES:
            continue
        labels = {word: item(sentence.tags[word], sentence.relations[word]) for word in words}
        ranked = sorted(words, key=labels.__getitem__)
        slots = {word: slot for slot, word in enumerate([*ranked, head])}
        items = (*(labels[word] for word in ranked), head_item(tag))
        yield tag, items, tuple(slots[word] for word in sorted(slots))
