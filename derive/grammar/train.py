"""Learning a grammar: the conditional log-likelihood of a treebank's orders, maximised with L-BFGS."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from derive.errors import BadInput
from derive.grammar.features import (
    CLASSES,
    Feature,
    Sequences,
    Tree,
    Weights,
    containing,
    design,
    node_pairs,
    nodes,
    orders,
    sequences,
)
from derive.sentence import Sentence

LARGEST = 6  # items of the largest nodes that are learnt from
KEPT = 0.1  # the fraction of the types of sequences, the most frequent ones, that have a weight
PRECISE = 1e-6
"""The search ends with a step that gains less than this fraction of the log-likelihood, or after `STEPS`."""
STEPS = 1_000

Items = tuple[str, ...]
Seen = tuple[Items, tuple[int, ...]]  # a node's items, and the order in which a sentence has them


def train(
    sentences: Iterable[Sentence], l2: float = 1.0, path: Path | None = None
) -> tuple[dict[str, Weights], dict[str, int]]:
    """Weights by class of head for the orders of a treebank (`path`, for errors), and counts of what was used.
    Projective trees only, nodes of 2 to 6 items. The search maximises the sum over nodes of log p(order) less l2 / 2
    times the sum of squared weights, which is concave."""
    about: Counter[str] = Counter()
    seen: dict[str, Counter[Seen]] = {kind: Counter() for kind in sorted(set(CLASSES.values()))}
    for sentence in sentences:
        about["sentences"] += 1
        tree = Tree.without_closing_marks(sentence) if sentence.heads else None
        if not (tree and tree.projective):
            about["sentences with crossing arcs or without a tree"] += 1
            continue
        for tag, items, order in nodes(sentence, tree):
            if len(items) > LARGEST:
                about[f"nodes of more than {LARGEST} items"] += 1
            else:
                about["nodes"] += 1
                seen[CLASSES[tag]][items, order] += 1
    for kind, counts in seen.items():
        if not counts:
            raise BadInput(f"no order to learn: the treebank has no {kind} with dependents in a projective tree", path)
    weights = {}
    for kind, counts in seen.items():
        weights[kind], about[f"steps of the search, {kind}"] = Likelihood(counts, l2).maximise()
    return weights, dict(about)


class _Group(NamedTuple):
    """The B distinct nodes of n items: their counts, the features of their pairs, and those of their sequences. counts
    (B,); features (B, columns, 3), numbers of features; has (B * n!, sequences), which order has which."""

    n: int
    counts: np.ndarray
    features: np.ndarray
    has: csr_array


class Likelihood:
    """The penalised log-likelihood of one class's nodes, and its gradient."""

    def __init__(self, seen: Counter[Seen], l2: float) -> None:
        self.l2 = l2
        counts: Counter[Feature] = Counter()
        for (items, order), count in seen.items():
            for feature in sequences(items, order):
                counts[feature] += count
        ranked = sorted(counts, key=lambda feature: (-counts[feature], feature))
        frequent = ranked[: math.ceil(KEPT * len(ranked))]
        self.numbers: dict[Feature, int] = {feature: i for i, feature in enumerate(frequent)}
        self.sequences = len(frequent)
        nodes: Counter[Items] = Counter()
        for (items, _), count in seen.items():
            nodes[items] += count
        by_size: dict[int, list[Items]] = defaultdict(list)
        for items in sorted(nodes):
            by_size[len(items)].append(items)
        matcher = Sequences(frequent)
        self.groups = [self._group(n, distinct, nodes, matcher) for n, distinct in sorted(by_size.items())]
        self.observed = self._observed(seen)

    def _group(self, n: int, distinct: list[Items], nodes: Counter[Items], matcher: Sequences) -> _Group:
        numbers = self.numbers
        features = [
            [[numbers.setdefault(f, len(numbers)) for f in triple] for triple in node_pairs(items)]
            for items in distinct
        ]
        rows, cols, all_orders = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], math.factorial(n)
        for b, items in enumerate(distinct):
            for slots, feature in matcher.among(items):
                rows.append(containing(n, slots) + b * all_orders)
                cols.append(np.full(len(rows[-1]), numbers[feature]))
        place = np.concatenate(rows), np.concatenate(cols)
        has = csr_array((np.ones(len(place[0])), place), shape=(len(distinct) * all_orders, self.sequences))
        counts = np.array([nodes[items] for items in distinct], dtype=np.float64)
        return _Group(n, counts, np.array(features, dtype=np.int32), has)

    def _observed(self, seen: Counter[Seen]) -> np.ndarray:
        counts = np.zeros(len(self.numbers))
        rank = {n: {order: i for i, order in enumerate(orders(n))} for n in {len(items) for items, _ in seen}}
        for (items, order), count in seen.items():
            has = design(len(items))[rank[len(items)][order]]
            for present, triple in zip(has, node_pairs(items), strict=True):
                if present:
                    for feature in triple:
                        counts[self.numbers[feature]] += count
            for feature in sequences(items, order):
                if feature in self.numbers:
                    counts[self.numbers[feature]] += count
        return counts

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and its gradient over the weights: (features,)."""
        likelihood = self.observed @ weights
        expected = np.zeros(len(weights))
        for group in self.groups:
            matrix = design(group.n)
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
        start, options = np.zeros(len(self.numbers)), {"maxiter": STEPS, "maxcor": 20, "ftol": PRECISE}
        best = minimize(self, start, jac=True, method="L-BFGS-B", options=options)
        return {feature: float(best.x[number]) for feature, number in self.numbers.items()}, int(best.nit)
