"""A grammar: the weights of a language's orders, the probability that they give to each order of a node, and draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.grammar.features import (
    CLASSES,
    KINDS,
    SEQUENCE,
    Feature,
    Sequences,
    Weights,
    containing,
    design,
    node_pairs,
    orders,
)
from derive.readers.lines import check_file
from derive.sentence import Sentence

FORMAT = 1
"""Goes up when the same weights would mean other probabilities, or the same treebank would teach other weights."""
LARGE = 1e6  # every weight is smaller: a sum of a few hundred stays finite
SUBSTRATE_WEIGHT = 0.05


@dataclass(frozen=True, eq=False)
class Grammar:
    """p(order) = exp(theta . f(order)) / sum over all orders, for the nodes of each class of heads (Wang and Eisner
    2016, section 4). `about` describes its treebank, in numbers."""

    name: str
    weights: Mapping[str, Weights]
    about: Mapping[str, int]

    @classmethod
    def train(cls, sentences: Iterable[Sentence], name: str = "", l2: float = 1.0, path: Path | None = None) -> Grammar:
        from derive.grammar.train import train  # SciPy comes with it

        return cls(name, *train(sentences, l2, path))

    @classmethod
    def mix(cls, superstrate: Grammar, substrate: Grammar, weight: float = SUBSTRATE_WEIGHT) -> Grammar:
        """theta = (1 - weight) of the superstrate's + weight of the substrate's."""
        if not 0 <= weight <= 1:
            raise ValueError(f"the substrate's weight is from 0 to 1, not {weight}")
        weights = {}
        for kind in sorted(superstrate.weights.keys() | substrate.weights.keys()):
            ours, theirs = superstrate.weights.get(kind, {}), substrate.weights.get(kind, {})
            # Sorted, because the order of a set changes from process to process and sums of floats follow it.
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
        """theta . f of each order of a node's items, the head's last: (n!,), as in `features.orders`."""
        kind, n = CLASSES[items[-1].removeprefix("@").removesuffix(" @")], len(items)
        weights = self.weights.get(kind, {})
        by_column = [sum(weights.get(feature, 0.0) for feature in features) for features in node_pairs(items)]
        scores: np.ndarray = design(n) @ np.array(by_column)
        if kind in self._sequences:
            for slots, feature in self._sequences[kind].among(items):
                scores[containing(n, slots)] += weights[feature]
        return scores

    def probabilities(self, items: Sequence[str]) -> np.ndarray:
        """The probability of each order of a node's items, the head's last: (n!,), as in `features.orders`."""
        scores = self.scores(items)
        shares = np.exp(scores - scores.max())
        return np.asarray(shares / shares.sum())

    def save(self, path: Path) -> None:
        """Write the grammar as sealed JSON, one weight per line, so that a person can read and compare it."""
        weights = {
            kind: {" + ".join(feature): weight for feature, weight in sorted(self.weights[kind].items())}
            for kind in sorted(self.weights)
        }
        write_sealed(path, {"format": FORMAT, "name": self.name, "about": dict(self.about), "weights": weights})

    @classmethod
    def load(cls, path: Path) -> Grammar:
        check_file(path)
        content = read_sealed(path, "a grammar that `calque grammar train` wrote")
        if (version := content.get("format")) != FORMAT:
            hint = "train it again with `calque grammar train`"
            raise BadInput(f"a grammar of version {version}; expected {FORMAT}: {hint}", path)
        try:
            weights = {kind: _read_weights(kind, table) for kind, table in content["weights"].items()}
            return cls(str(content["name"]), weights, {str(k): int(v) for k, v in content["about"].items()})
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise BadInput(f"a damaged grammar: {error!r}", path) from None


def _read_weights(kind: str, table: dict[str, Any]) -> dict[Feature, float]:
    if kind not in CLASSES.values():
        raise ValueError(f"weights for {kind}; expected {' or '.join(sorted(set(CLASSES.values())))}")
    weights = {tuple(key.split(" + ")): float(weight) for key, weight in table.items()}
    for feature, weight in weights.items():
        valid = len(feature) == 3 if feature[0] in KINDS else feature[0] == SEQUENCE and 4 <= len(feature) <= 6
        if not valid or not abs(weight) < LARGE:
            raise ValueError(f"the weight {weight} of {' + '.join(feature)}")
    return weights


class Sampler:
    """Exact draws of orders. Distributions of nodes that were met lately are kept: at most 165 MB of them."""

    def __init__(self, grammar: Grammar) -> None:
        self.cumulative = lru_cache(maxsize=1 << 12)(lambda items: np.cumsum(grammar.probabilities(items)))

    def __call__(self, items: tuple[str, ...], u: float) -> tuple[int, ...]:
        """The order of a node's items, the head's last, that a uniform number from 0 to below 1 picks."""
        every = orders(len(items))
        return every[min(int(self.cumulative(items).searchsorted(u, "right")), len(every) - 1)]
