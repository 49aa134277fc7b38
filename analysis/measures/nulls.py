"""Null distributions: a measure's values after shuffles that destroy meaning and keep everything else. Items
are shuffled within groups that share a property unrelated to meaning, such as sentence length, and all
occurrences of a type move together. Shapes: S shuffles, N items."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from calque.analysis.records.record import Null

ALIKE = 5  # smallest group that is used: in smaller ones, a shuffle often leaves items in place
LOW, HIGH = 2.5, 97.5  # percentiles
LIKE_FREQUENT = 10  # types in a group of exchangeable types


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Group types by frequency, LIKE_FREQUENT in each group and more in the last."""
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    groups: list[Hashable] = np.minimum(
        rank // LIKE_FREQUENT, max(len(counts) // LIKE_FREQUENT - 1, 0)
    ).tolist()
    return groups


def in_company(kinds: Sequence[Hashable]) -> list[int]:
    """Return the indices of items whose kind has at least `ALIKE` items, in order."""
    counts = Counter(kinds)
    return [place for place, kind in enumerate(kinds) if counts[kind] >= ALIKE]


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int) -> np.ndarray:
    """Return `shuffles` permutations of the items within their kinds, (S, N): entry i is the item that takes
    i's place."""
    number: dict[Hashable, int] = {}
    kind_of = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    home = np.argsort(kind_of, kind="stable")  # the items, sorted by kind
    random = np.random.default_rng(seed)
    permutations = np.empty((shuffles, len(kind_of)), np.int64)
    for row in permutations:
        row[home] = home[np.lexsort((random.random(len(kind_of)), kind_of[home]))]
    return permutations


def null(values: np.ndarray, chance: float | None = None) -> Null:
    """Summarise the values after shuffles, (S,), as a null; `chance` defaults to their mean."""
    low = float(
        np.percentile(values, LOW, method="lower")
    )  # no interpolation: shares of few items are coarse
    high = float(np.percentile(values, HIGH, method="higher"))
    return Null(float(np.mean(values)) if chance is None else chance, low, high, len(values))


def either(first: Null, second: Null) -> Null:
    """Return the band that covers two nulls of the same number: a value outside it is explained by
    neither."""
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffles: int, seed: int
) -> np.ndarray:
    """Return the accuracy of words scored against the labels of another, similarly frequent type, (S,). Words
    have a predicted label, a gold label and a type, (N,) each."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predicted_of, share_of = (np.zeros((len(counts), width)) for _ in range(2))
    np.add.at(predicted_of, (type_of, predicted), 1)
    np.add.at(share_of, (type_of, labels), 1 / counts[type_of])
    exchanges = shuffled(like_frequent(counts), shuffles, seed)
    return np.array([(predicted_of * share_of[exchange]).sum() for exchange in exchanges]) / len(predicted)
