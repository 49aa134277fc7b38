"""Compute null distributions: a measure's values after shuffling within groups that share a property
unrelated to meaning, such as sentence length. Shapes: S shuffles, N items."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from calque.analysis.records.record import Null

ALIKE = 5  # minimum group size; shuffling smaller groups often leaves items in place
LOW, HIGH = 2.5, 97.5  # percentiles
LIKE_FREQUENT = 10  # number of similarly frequent types in a group


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Return each type's group: LIKE_FREQUENT types of similar frequency form a group, and only the last
    group may be larger."""
    rank, last = np.argsort(np.argsort(-counts, kind="stable")), max(len(counts) // LIKE_FREQUENT - 1, 0)
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, last).tolist()
    return groups


def in_company(kinds: Sequence[Hashable]) -> list[int]:
    """Return the indices of the items whose kind occurs at least ALIKE times."""
    counts = Counter(kinds)
    return [place for place, kind in enumerate(kinds) if counts[kind] >= ALIKE]


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int) -> np.ndarray:
    """Return random permutations (S, N) of the items within each kind."""
    number: dict[Hashable, int] = {}
    kind_of = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    home = np.argsort(kind_of, kind="stable")  # item indices, sorted by kind
    random = np.random.default_rng(seed)
    permutations = np.empty((shuffles, len(kind_of)), np.int64)
    for row in permutations:
        row[home] = home[np.lexsort((random.random(len(kind_of)), kind_of[home]))]
    return permutations


def null(values: np.ndarray, chance: float | None = None) -> Null:
    """Summarise the values (S,) obtained by shuffling; `chance` defaults to their mean."""
    # Shares of few items are coarse, so percentiles are not interpolated.
    low = float(np.percentile(values, LOW, method="lower"))
    high = float(np.percentile(values, HIGH, method="higher"))
    return Null(float(np.mean(values)) if chance is None else chance, low, high, len(values))


def either(first: Null, second: Null) -> Null:
    """Extend the first null's band to cover the second's."""
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffles: int, seed: int
) -> np.ndarray:
    """Return the accuracies (S,) of the predicted labels (N,) after giving each type (N,) the gold labels of
    a type of similar frequency."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predicted_of, share_of = (np.zeros((len(counts), width)) for _ in range(2))
    np.add.at(predicted_of, (type_of, predicted), 1)
    np.add.at(share_of, (type_of, labels), 1 / counts[type_of])
    exchanges = shuffled(like_frequent(counts), shuffles, seed)
    return np.array([(predicted_of * share_of[exchange]).sum() for exchange in exchanges]) / len(predicted)
