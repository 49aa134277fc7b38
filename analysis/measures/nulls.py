"""Nulls: the value of a measure after a shuffle of items that are alike in everything but meaning.

Items are shuffled among those that are alike in something without meaning, such as the length of a sentence: otherwise
a measure would leave its null by that alone. All occurrences of a type move together, because they are not independent:
a model treats most of them alike, by chance too, so occurrences that are shuffled one by one give a null that is far
too narrow. Shapes: S shuffles, N items.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from calque.analysis.records.record import Null

ALIKE = 5  # the smallest group of alike items that is used: in a smaller one, items would often keep their own place
LOW, HIGH = 2.5, 97.5  # percentiles
LIKE_FREQUENT = 10  # types of a group that are exchanged with each other


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """The group of each type: those nearest in frequency, LIKE_FREQUENT of them; the last group has more. `counts` are
    occurrences, one per type."""
    rank = np.argsort(np.argsort(-counts, kind="stable"))
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, max(len(counts) // LIKE_FREQUENT - 1, 0)).tolist()
    return groups


def in_company(kinds: Sequence[Hashable], least: int = ALIKE) -> list[int]:
    """The places of the items whose kind has `least` items or more, in their order."""
    counts = Counter(kinds)
    return [place for place, kind in enumerate(kinds) if counts[kind] >= least]


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int) -> np.ndarray:
    """`shuffles` permutations of the items within their kinds, (S, N): entry i is the item that takes i's place."""
    number: dict[Hashable, int] = {}
    kind_of = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    home = np.argsort(kind_of, kind="stable")  # the items, kind after kind
    random = np.random.default_rng(seed)
    permutations = np.empty((shuffles, len(kind_of)), np.int64)
    for row in permutations:
        row[home] = home[np.lexsort((random.random(len(kind_of)), kind_of[home]))]
    return permutations


def null(values: np.ndarray, chance: float | None = None) -> Null:
    """The null of the values after shuffles, (S,); without a theoretical chance level it is their mean."""
    low = float(np.percentile(values, LOW, method="lower"))  # numbers of few items jump: no value between two
    high = float(np.percentile(values, HIGH, method="higher"))
    return Null(float(np.mean(values)) if chance is None else chance, low, high, len(values))


def either(first: Null, second: Null) -> Null:
    """The band that holds two nulls of the same number: neither explains what is beyond it."""
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffles: int, seed: int
) -> np.ndarray:
    """The share of words that are correct by the labels of another type, as frequent as theirs, (S,). Words have a
    predicted label, a gold label and a type, (N,) each; labels are numbers from 0."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predicted_of, share_of = (np.zeros((len(counts), width)) for _ in range(2))
    np.add.at(predicted_of, (type_of, predicted), 1)
    np.add.at(share_of, (type_of, labels), 1 / counts[type_of])
    exchanges = shuffled(like_frequent(counts), shuffles, seed)
    return np.array([(predicted_of * share_of[exchange]).sum() for exchange in exchanges]) / len(predicted)
