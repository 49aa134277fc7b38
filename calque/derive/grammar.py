"""Learn a word order from a treebank: the log-linear model of galactic dependencies (Wang and Eisner 2016).

A node consists of n items: a head and its dependents. Each pair of items has one feature per granularity
(tag, relation, both), and each sequence one. Slots are indices of items: slot n - 1 is the head, and slots n
and n + 1 are the boundary marks before and after all items.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby, pairwise, permutations
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.files import read_sealed, write_sealed
from calque.derive.sentence import Sentence

Feature = tuple[str, ...]
Slots = tuple[int, ...]
Items = tuple[str, ...]
Seen = tuple[Items, Slots]  # a node's items, and their order in a sentence
Weights = Mapping[Feature, float]

FORMAT = 1  # incremented when the same treebank would yield different weights or probabilities
CLASSES = {"NOUN": "NOUN", "PROPN": "NOUN", "PRON": "NOUN", "VERB": "VERB"}
"""The class of each head tag, which determines the weights; nodes with other heads keep their order."""
MOST = 7  # maximum number of items in a node, including the head (5,040 orders)
LARGEST = 6  # maximum number of items in a training node
KEPT = 0.1  # the fraction of sequence types that get a weight: the most frequent ones
PRECISE = 1e-6  # stop when a step improves the log-likelihood by less, or after `STEPS` steps
STEPS = 1_000
ADJACENT, ORDERED, BEFORE, AROUND, AFTER = "adjacent", "ordered", "before", "around", "after"
"""Kinds of pairs: adjacent items or marks; items in a given order; and the latter before, around or after the
head."""
SEQUENCE = "sequence"
SHORTEST_SEQUENCE, LONGEST_SEQUENCE = 3, 5
BEGIN, END = "<", ">"


@dataclass(frozen=True, slots=True)
class Tree:
    """Each word's dependents, all words from the root downwards, and whether each subtree is contiguous."""

    dependents: list[list[int]]
    downwards: list[int]
    whole: list[bool]

    @classmethod
    def of(cls, heads: tuple[int, ...]) -> Self:
        n = len(heads)
        dependents: list[list[int]] = [[] for _ in range(n)]
        downwards: list[int] = []
        for word, head in enumerate(heads):
            (downwards if head < 0 else dependents[head]).append(word)
        for word in downwards:  # the list grows during the loop
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
        """Build the tree without closing punctuation, as items do not distinguish commas from full stops."""
        end = len(sentence)
        leaves = set(range(end)).difference(sentence.heads)
        while end > 1 and sentence.tags[end - 1] == "PUNCT" and end - 1 in leaves:
            end -= 1
        return cls.of(sentence.heads[:end])


@cache
def item(tag: str, relation: str) -> str:
    """Return a dependent's label, such as `ADJ amod`; relations have no subtypes."""
    return f"{tag} {relation.partition(':')[0]}"


def ranked(sentence: Sentence, tree: Tree, head: int) -> tuple[list[int], Items]:
    """Return a head's dependents, sorted by item, then the head; and their items."""
    labels = {word: item(sentence.tags[word], sentence.relations[word]) for word in tree.dependents[head]}
    words = sorted(labels, key=labels.__getitem__)
    return [*words, head], (*map(labels.__getitem__, words), f"@{sentence.tags[head]} @")


def nodes(sentence: Sentence, tree: Tree) -> Iterator[tuple[str, Items, Slots]]:
    """Yield each head's class, its node's `ranked` items, and their slots in text order."""
    for head in tree.downwards:
        if tree.dependents[head] and sentence.tags[head] in CLASSES:
            words, items = ranked(sentence, tree, head)
            slots = {word: slot for slot, word in enumerate(words)}
            yield CLASSES[sentence.tags[head]], items, tuple(slots[word] for word in sorted(slots))


@cache
def orders(n: int) -> list[Slots]:
    """Return all n! permutations of n slots, in lexicographic order."""
    return list(permutations(range(n)))


@cache
def _places(n: int) -> np.ndarray:
    """Return the position of each slot in each order, (n!, n + 2)."""
    inner = np.argsort(np.array(orders(n), dtype=np.int8), axis=1).astype(np.int8)
    outer = np.broadcast_to(np.array([-1, n], dtype=np.int8), (len(inner), 2))
    return np.concatenate([inner, outer], axis=1)


@cache
def columns(n: int) -> list[tuple[str, int, int]]:
    """List all pairs of slots that may have a feature, as (kind, slot, slot)."""
    pairs = list(permutations(range(n), 2))
    marks = [(n, j) for j in range(n)] + [(i, n + 1) for i in range(n)]
    slot_pairs = [(ADJACENT, i, j) for i, j in pairs + marks] + [(ORDERED, i, j) for i, j in pairs]
    for kind in (BEFORE, AROUND, AFTER):
        slot_pairs += [(kind, i, j) for i, j in pairs if n - 1 not in (i, j)]
    return slot_pairs


@cache
def design(n: int) -> np.ndarray:
    """Return which `columns` apply to each order, as float64 zeros and ones, (n!, columns)."""
    place, head = _places(n), _places(n)[:, n - 1]
    features = []
    for kind, i, j in columns(n):
        first, second = place[:, i], place[:, j]
        kinds = {
            ADJACENT: second == first + 1,
            ORDERED: first < second,
            BEFORE: (first < second) & (second < head),
            AROUND: (first < head) & (head < second),
            AFTER: (head < first) & (first < second),
        }
        features.append(kinds[kind])
    return np.stack(features, axis=1).astype(np.float64)


@lru_cache(maxsize=1 << 16)
def containing(n: int, slots: Slots) -> np.ndarray:
    """Return the indices of all orders in which these slots or marks directly follow each other."""
    place = _places(n)
    adjacent = [place[:, second] == place[:, first] + 1 for first, second in pairwise(slots)]
    return np.flatnonzero(np.logical_and.reduce(adjacent))


def node_pairs(items: Sequence[str]) -> Iterator[tuple[Feature, ...]]:
    """Yield three features for each pair of items, in the order of `columns`: by tag, relation, and both."""
    labels = []
    for label in (*items, BEGIN, END):
        tag, _, relation = label.partition(" ")
        labels.append((tag, relation or tag, label))
    for kind, i, j in columns(len(items)):
        yield tuple((kind, *pair) for pair in zip(labels[i], labels[j], strict=True))


def sequences(items: Sequence[str], order: Sequence[int]) -> Iterator[Feature]:
    """Yield all sequences of 3 to min(5, n) consecutive labels in an order of n items."""
    line = [BEGIN, *(items[slot] for slot in order), END]
    for k in range(SHORTEST_SEQUENCE, min(LONGEST_SEQUENCE, len(items)) + 1):
        for start in range(len(line) - k + 1):
            yield (SEQUENCE, *line[start : start + k])


class Sequences:
    """Label sequences, to be matched against a node's items."""

    def __init__(self, features: Iterable[Feature]) -> None:
        self._features = set(features)
        self._starts = {feature[:end] for feature in self._features for end in range(2, len(feature) + 1)}

    def among(self, items: Sequence[str]) -> Iterator[tuple[Slots, Feature]]:
        """Yield the slots and the feature for every way to form a sequence from the items."""
        partial: list[tuple[Slots, Feature]] = [((), (SEQUENCE,))]
        for slots, feature in partial:  # the list grows during the loop
            if len(slots) < min(LONGEST_SEQUENCE, len(items)):
                for slot, label in enumerate((*items, BEGIN, END)):
                    if slot not in slots and (*feature, label) in self._starts:
                        partial.append(((*slots, slot), (*feature, label)))
        # Sorted, because floating-point sums depend on the order.
        yield from sorted(pair for pair in partial if pair[1] in self._features)


@dataclass(frozen=True, eq=False)
class Grammar:
    """Per class of heads, p(order) ∝ exp(theta . f(order)) (Wang and Eisner 2016, section 4)."""

    weights: Mapping[str, Weights]

    @classmethod
    def train(cls, sentences: Iterable[Sentence], path: Path | None = None) -> Self:
        """Maximise log p(order) over nodes of 2 to 6 items in projective trees, with an L2 penalty."""
        orders_by_kind: dict[str, Counter[Seen]] = {kind: Counter() for kind in sorted(set(CLASSES.values()))}
        for sentence in sentences:
            tree = Tree.without_closing_marks(sentence) if sentence.heads else None
            for kind, items, order in nodes(sentence, tree) if tree and all(tree.whole) else ():
                if len(items) <= LARGEST:
                    orders_by_kind[kind][items, order] += 1
        for kind, counts in orders_by_kind.items():
            if not counts:
                raise BadInput(f"no projective tree contains a {kind} with dependents to learn from", path)
        return cls({kind: Likelihood(counts).maximise() for kind, counts in orders_by_kind.items()})

    @classmethod
    def mix(cls, superstrate: Self, substrate: Self, weight: float) -> Self:
        """Interpolate the weights: (1 - weight) * superstrate + weight * substrate."""
        mixed: dict[str, dict[Feature, float]] = {}
        for kind in sorted(superstrate.weights.keys() | substrate.weights.keys()):
            first, second = superstrate.weights.get(kind, {}), substrate.weights.get(kind, {})
            mixed[kind] = {}
            # Sorted, because floating-point sums depend on the order, which differs between processes.
            for f in sorted(first.keys() | second.keys()):
                mixed[kind][f] = (1 - weight) * first.get(f, 0.0) + weight * second.get(f, 0.0)
        return cls(mixed)

    @cached_property
    def _sequences(self) -> dict[str, Sequences]:
        kinds = self.weights.items()
        return {kind: Sequences(f for f in weights if f[0] == SEQUENCE) for kind, weights in kinds}

    def probabilities(self, items: Sequence[str]) -> np.ndarray:
        """Return the probability of each of the `orders` of a node's items (head last), (n!,)."""
        kind, n = CLASSES[items[-1].strip("@ ")], len(items)
        weights = self.weights.get(kind, {})
        by_column = [sum(weights.get(feature, 0.0) for feature in triple) for triple in node_pairs(items)]
        scores: np.ndarray = design(n) @ np.array(by_column)
        for slots, feature in self._sequences[kind].among(items) if weights else ():
            scores[containing(n, slots)] += weights[feature]
        shares = np.exp(scores - scores.max())
        return np.asarray(shares / shares.sum())

    def sample(self, items: Items, chance: float) -> Slots:
        """Return the order of a node's items that the uniform random number `chance` in [0, 1) selects."""
        choices = orders(len(items))
        return choices[min(int(_cumulative(self, items).searchsorted(chance, "right")), len(choices) - 1)]

    def save(self, path: Path) -> None:
        weights = {}
        for kind, table in sorted(self.weights.items()):
            weights[kind] = {" + ".join(key): weight for key, weight in sorted(table.items())}
        write_sealed(path, {"format": FORMAT, "weights": weights})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load a grammar written by `save`; raise BadInput if it is damaged or in another format."""
        content, weights = read_sealed(path, "a grammar"), {}
        if (version := content.get("format")) != FORMAT:
            raise BadInput(f"this grammar has format {version}, not {FORMAT}; remove it to relearn it", path)
        for kind, table in content["weights"].items():
            weights[kind] = {tuple(key.split(" + ")): weight for key, weight in table.items()}
        return cls(weights)


@lru_cache(maxsize=1 << 12)  # at most 165 MB
def _cumulative(grammar: Grammar, items: Items) -> np.ndarray:
    return np.cumsum(grammar.probabilities(items))


class _Group(NamedTuple):
    """The B distinct nodes with n items: `seen` (B, n!), the counts of each order; `features` (B, columns, 3)
    of their item pairs; and `has` (B * n!, sequences), the sequences in each order, a sparse matrix."""

    n: int
    seen: np.ndarray
    features: np.ndarray
    has: Any


class Likelihood:
    """The L2-regularised negative log-likelihood of the orders of a class of heads."""

    def __init__(self, seen: Counter[Seen], l2: float = 1.0) -> None:
        self.l2 = l2
        counts: Counter[Feature] = Counter()
        nodes: defaultdict[Items, Counter[Slots]] = defaultdict(Counter)
        for (items, order), count in seen.items():
            nodes[items][order] += count
            for feature in sequences(items, order):
                counts[feature] += count
        ranked = sorted(counts, key=lambda feature: (-counts[feature], feature))
        frequent = ranked[: math.ceil(KEPT * len(ranked))]
        self.numbers: dict[Feature, int] = {feature: i for i, feature in enumerate(frequent)}
        self.sequences = len(frequent)
        matcher = Sequences(frequent)
        self.groups = []
        for n, distinct in groupby(sorted(nodes, key=lambda items: (len(items), items)), key=len):
            self.groups.append(self._group(n, {items: nodes[items] for items in distinct}, matcher))
        self.observed = np.sum([self._totals(group, group.seen) for group in self.groups], axis=0)

    def _group(self, n: int, nodes: dict[Items, Counter[Slots]], matcher: Sequences) -> _Group:
        from scipy.sparse import csr_array

        numbers, by_pair, ranks = self.numbers, [], {order: rank for rank, order in enumerate(orders(n))}
        rows, cols = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        seen = np.zeros((len(nodes), len(ranks)))
        for node, (items, counts) in enumerate(nodes.items()):
            pairs = node_pairs(items)
            by_pair.append([[numbers.setdefault(f, len(numbers)) for f in triple] for triple in pairs])
            for slots, feature in matcher.among(items):
                rows.append(containing(n, slots) + node * len(ranks))
                cols.append(np.full(len(rows[-1]), numbers[feature]))
            for order, count in counts.items():
                seen[node, ranks[order]] = count
        place = np.concatenate(rows), np.concatenate(cols)
        has = csr_array((np.ones(len(place[0])), place), shape=(seen.size, self.sequences))
        return _Group(n, seen, np.array(by_pair, dtype=np.int32), has)

    def _totals(self, group: _Group, shares: np.ndarray) -> np.ndarray:
        """Return the sum of the features of a group's orders, weighted by `shares` (B, n!)."""
        by_column = np.repeat((shares @ design(group.n))[:, :, None], 3, axis=2)
        totals = np.bincount(group.features.ravel(), by_column.ravel(), minlength=len(self.numbers))
        totals[: self.sequences] += group.has.T @ shares.ravel()
        return totals

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient, (features,)."""
        likelihood, expected = self.observed @ weights, np.zeros(len(weights))
        for group in self.groups:
            scores = weights[group.features].sum(axis=2) @ design(group.n).T
            scores += (group.has @ weights[: self.sequences]).reshape(scores.shape)
            highest = scores.max(axis=1, keepdims=True)
            shares = np.exp(scores - highest)
            totals = shares.sum(axis=1, keepdims=True)
            counts = group.seen.sum(axis=1)
            likelihood -= counts @ (highest + np.log(totals))[:, 0]
            shares *= counts[:, None] / totals
            expected += self._totals(group, shares)
        loss = self.l2 / 2 * weights @ weights - likelihood
        return float(loss), self.l2 * weights + expected - self.observed

    def maximise(self) -> Weights:
        """Return the weights that maximise the likelihood."""
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        start, options = np.zeros(len(self.numbers)), {"maxiter": STEPS, "maxcor": 20, "ftol": PRECISE}
        with threadpool_limits(1):  # more threads would round sums differently and change sampled orders
            best = minimize(self, start, jac=True, method="L-BFGS-B", options=options)
        return {feature: float(best.x[number]) for feature, number in self.numbers.items()}
