"""Log-linear models, learnt with L-BFGS, for sampling orders of a node's items."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from calque.derive.artefact import read_sealed, write_sealed
from calque.derive.errors import BadInput
from calque.derive.grammar import features
from calque.derive.grammar.features import CLASSES, KINDS, Feature, Sequences, Tree, Weights
from calque.derive.sentence import Sentence

FORMAT = 1  # incremented when the same treebank would yield different weights or probabilities
LARGEST = 6  # maximum number of items in training nodes
KEPT = 0.1  # the fraction of sequence types that get a weight, starting with the most frequent
PRECISE = 1e-6  # stop when a step improves the log-likelihood by less than this, or after `STEPS` steps
STEPS = 1_000

Items = tuple[str, ...]
Seen = tuple[Items, tuple[int, ...]]  # a node's items, and their order in a sentence


@dataclass(frozen=True, eq=False)
class Grammar:
    """A log-linear model for each class of heads (Wang and Eisner 2016, section 4): p(order) is exp(theta .
    f(order)), normalised over all orders."""

    name: str
    weights: Mapping[str, Weights]
    about: Mapping[str, int]

    @classmethod
    def train(
        cls, sentences: Iterable[Sentence], name: str = "", l2: float = 1.0, path: Path | None = None
    ) -> Self:
        """Learn from the nodes with 2 to 6 items in a treebank's projective trees, by maximising the sum of
        log p(order) minus l2 / 2 times the squared norm of the weights. Errors mention `path`."""
        about = Counter[str]()
        seen: dict[str, Counter[Seen]] = {kind: Counter() for kind in sorted(set(CLASSES.values()))}
        for sentence in sentences:
            about["sentences"] += 1
            tree = Tree.without_closing_marks(sentence) if sentence.heads else None
            if not (tree and all(tree.whole)):
                about["sentences with crossing arcs or without a tree"] += 1
                continue
            for tag, items, order in features.nodes(sentence, tree):
                if len(items) > LARGEST:
                    about[f"nodes of more than {LARGEST} items"] += 1
                else:
                    about["nodes"] += 1
                    seen[CLASSES[tag]][items, order] += 1
        for kind, counts in seen.items():
            if not counts:
                raise BadInput(f"no projective tree contains a {kind} with dependents to learn from", path)
        weights = {}
        for kind, counts in seen.items():
            weights[kind], about[f"steps of the search, {kind}"] = Likelihood(counts, l2).maximise()
        return cls(name, weights, dict(about))

    @classmethod
    def mix(cls, superstrate: Self, substrate: Self, weight: float) -> Self:
        """Interpolate the weights: (1 - weight) * superstrate + weight * substrate."""
        weights = {}
        for kind in sorted(superstrate.weights.keys() | substrate.weights.keys()):
            ours, theirs = superstrate.weights.get(kind, {}), substrate.weights.get(kind, {})
            # Sorted, because floating-point sums depend on the order, which differs between processes.
            weights[kind] = {
                feature: (1 - weight) * ours.get(feature, 0.0) + weight * theirs.get(feature, 0.0)
                for feature in sorted(ours.keys() | theirs.keys())
            }
        return cls(f"{superstrate.name}+{substrate.name}", weights, {})

    @cached_property
    def _sequences(self) -> dict[str, Sequences]:
        return {
            kind: Sequences(feature for feature in weights if feature[0] not in KINDS)
            for kind, weights in self.weights.items()
        }

    def scores(self, items: Sequence[str]) -> np.ndarray:
        """Return theta . f, (n!,), for all `features.orders` of a node's items, with the head's last."""
        kind, n = CLASSES[items[-1].removeprefix("@").removesuffix(" @")], len(items)
        weights, triples = self.weights.get(kind, {}), features.node_pairs(items)
        by_column = [sum(weights.get(feature, 0.0) for feature in triple) for triple in triples]
        scores: np.ndarray = features.design(n) @ np.array(by_column)
        if kind in self._sequences:
            for slots, feature in self._sequences[kind].among(items):
                scores[features.containing(n, slots)] += weights[feature]
        return scores

    def probabilities(self, items: Sequence[str]) -> np.ndarray:
        """Return the probabilities, (n!,), of all `features.orders` of a node's items."""
        scores = self.scores(items)
        shares = np.exp(scores - scores.max())
        return np.asarray(shares / shares.sum())

    def sample(self, items: Items, u: float) -> tuple[int, ...]:
        """Return the order of a node's items that the uniform random number `u` in [0, 1) selects."""
        every = features.orders(len(items))
        return every[min(int(_cumulative(self, items).searchsorted(u, "right")), len(every) - 1)]

    def save(self, path: Path) -> None:
        weights = {
            kind: {" + ".join(feature): weight for feature, weight in sorted(self.weights[kind].items())}
            for kind in sorted(self.weights)
        }
        facts = {"format": FORMAT, "name": self.name, "about": dict(self.about)}
        write_sealed(path, {**facts, "weights": weights})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load a grammar written by `save`; raise BadInput if it is damaged or in a different format."""
        content = read_sealed(path, "a grammar")
        if (version := content.get("format")) != FORMAT:
            raise BadInput(f"a grammar in format {version}, not {FORMAT}; remove it to learn it again", path)
        weights = {
            kind: {tuple(key.split(" + ")): weight for key, weight in table.items()}
            for kind, table in content["weights"].items()
        }
        return cls(content["name"], weights, content["about"])


@lru_cache(maxsize=1 << 12)  # at most 165 MB
def _cumulative(grammar: Grammar, items: Items) -> np.ndarray:
    return np.cumsum(grammar.probabilities(items))


class _Group(NamedTuple):
    """The B distinct nodes with n items: counts (B,); features (B, columns, 3), the feature indices of their
    pairs; has (B * n!, sequences), a sparse matrix of the sequences in each order."""

    n: int
    counts: np.ndarray
    features: np.ndarray
    has: Any


class Likelihood:
    """The L2-regularised negative log-likelihood of the orders observed for one class of heads."""

    def __init__(self, seen: Counter[Seen], l2: float) -> None:
        self.l2 = l2
        counts: Counter[Feature] = Counter()
        for (items, order), count in seen.items():
            for feature in features.sequences(items, order):
                counts[feature] += count
        ranked = sorted(counts, key=lambda feature: (-counts[feature], feature))
        frequent = ranked[: math.ceil(KEPT * len(ranked))]
        self.numbers: dict[Feature, int] = {feature: i for i, feature in enumerate(frequent)}
        self.sequences = len(frequent)
        nodes: Counter[Items] = Counter()
        for (items, _), count in seen.items():
            nodes[items] += count
        matcher = Sequences(frequent)
        by_size = groupby(sorted(nodes, key=lambda items: (len(items), items)), key=len)
        self.groups = [self._group(n, list(distinct), nodes, matcher) for n, distinct in by_size]
        self.observed = self._observed(seen)

    def _group(self, n: int, distinct: list[Items], nodes: Counter[Items], matcher: Sequences) -> _Group:
        from scipy.sparse import csr_array

        numbers = self.numbers
        by_pair = []
        for items in distinct:
            pairs = features.node_pairs(items)
            by_pair.append([[numbers.setdefault(f, len(numbers)) for f in triple] for triple in pairs])
        rows, cols, all_orders = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], math.factorial(n)
        for b, items in enumerate(distinct):
            for slots, feature in matcher.among(items):
                rows.append(features.containing(n, slots) + b * all_orders)
                cols.append(np.full(len(rows[-1]), numbers[feature]))
        place = np.concatenate(rows), np.concatenate(cols)
        has = csr_array((np.ones(len(place[0])), place), shape=(len(distinct) * all_orders, self.sequences))
        counts = np.array([nodes[items] for items in distinct], dtype=np.float64)
        return _Group(n, counts, np.array(by_pair, dtype=np.int32), has)

    def _observed(self, seen: Counter[Seen]) -> np.ndarray:
        counts = np.zeros(len(self.numbers))
        sizes = {len(items) for items, _ in seen}
        ranks = {n: {order: i for i, order in enumerate(features.orders(n))} for n in sizes}
        for (items, order), count in seen.items():
            has = features.design(len(items))[ranks[len(items)][order]]
            for present, triple in zip(has, features.node_pairs(items), strict=True):
                if present:
                    for feature in triple:
                        counts[self.numbers[feature]] += count
            for feature in features.sequences(items, order):
                if feature in self.numbers:
                    counts[self.numbers[feature]] += count
        return counts

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss, and its gradient with respect to the weights, (features,)."""
        likelihood = self.observed @ weights
        expected = np.zeros(len(weights))
        for group in self.groups:
            matrix = features.design(group.n)
            scores = weights[group.features].sum(axis=2) @ matrix.T
            scores += (group.has @ weights[: self.sequences]).reshape(scores.shape)
            highest = scores.max(axis=1, keepdims=True)
            shares = np.exp(scores - highest)
            totals = shares.sum(axis=1, keepdims=True)
            likelihood -= group.counts @ (highest + np.log(totals))[:, 0]
            shares *= group.counts[:, None] / totals
            by_column = np.repeat((shares @ matrix)[:, :, None], 3, axis=2)
            expected += np.bincount(group.features.ravel(), by_column.ravel(), minlength=len(weights))
            expected[: self.sequences] += group.has.T @ shares.ravel()
        loss = self.l2 / 2 * weights @ weights - likelihood
        return float(loss), self.l2 * weights + expected - self.observed

    def maximise(self) -> tuple[Weights, int]:
        from scipy.optimize import minimize
        from threadpoolctl import threadpool_limits

        start, options = np.zeros(len(self.numbers)), {"maxiter": STEPS, "maxcor": 20, "ftol": PRECISE}
        with threadpool_limits(1):  # more threads would round sums differently and change sampled orders
            best = minimize(self, start, jac=True, method="L-BFGS-B", options=options)
        return {feature: float(best.x[number]) for feature, number in self.numbers.items()}, int(best.nit)
