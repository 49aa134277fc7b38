"""Learning: the likelihood and its gradient, and what of a treebank is used."""

import math
import random
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from derive.errors import BadInput
from derive.grammar.features import CLASSES, Tree, nodes
from derive.grammar.model import Grammar
from derive.grammar.train import LARGEST, Likelihood
from derive.pocket.language import Pocket
from derive.sentence import Sentence
from tests.derive.grammar import twin
from tests.derive.grammar.made import node


def test_the_gradient_is_that_of_finite_differences() -> None:
    seen = Counter(
        {(node(n, s), tuple(random.Random(s).sample(range(n), n))): s + 1 for n in (2, 3, 5) for s in range(4)}
    )
    objective = Likelihood(seen, l2=0.7)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=len(objective.numbers))
    _, gradient = objective(weights)
    for _ in range(20):
        direction = rng.normal(size=len(weights))
        step = 1e-5 * direction
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert slope == pytest.approx(gradient @ direction, rel=1e-6, abs=1e-6)


def test_the_likelihood_is_that_of_the_definition() -> None:
    seen = Counter(
        {(node(n, s), tuple(random.Random(s).sample(range(n), n))): s + 1 for n in (2, 4, 5) for s in range(3)}
    )
    objective = Likelihood(seen, l2=0.5)
    values = np.random.default_rng(1).normal(size=len(objective.numbers))
    weights = {feature: float(values[number]) for feature, number in objective.numbers.items()}
    expected = 0.25 * values @ values
    for (items, order), count in seen.items():
        place = list(permutations(range(len(items)))).index(order)
        expected -= count * np.log(twin.probabilities(weights, items)[place])
    assert objective(values)[0] == pytest.approx(expected, rel=1e-10)


def test_a_tenth_of_the_sequences_is_kept_the_most_frequent() -> None:
    sentences = list(Pocket().sentences(300))
    seen: dict[str, Counter[tuple[str, ...]]] = {"NOUN": Counter(), "VERB": Counter()}
    for sentence in sentences:
        for tag, items, order in nodes(sentence, Tree.without_closing_marks(sentence)):
            if len(items) <= LARGEST:
                seen[CLASSES[tag]].update(f for f in twin.features(items, order) if f[0] == "sequence")
    for kind, weights in Grammar.train(sentences).weights.items():
        kept = {feature for feature in weights if feature[0] == "sequence"}
        assert len(kept) == math.ceil(len(seen[kind]) / 10)
        assert min(seen[kind][f] for f in kept) >= max(seen[kind][f] for f in seen[kind].keys() - kept)


@pytest.mark.parametrize(("tag", "lacking"), [("VERB", "NOUN"), ("NOUN", "VERB")])
def test_a_treebank_without_a_class_of_heads_is_refused(tag: str, lacking: str) -> None:
    sentence = Sentence(("a", "b"), ("DET", tag), (1, -1), ("det", "root"))
    with pytest.raises(BadInput, match=f"no {lacking} with dependents"):
        Grammar.train([sentence])


def test_what_is_not_learnt_from_is_counted() -> None:
    good = list(Pocket().sentences(50))
    crossing = Sentence(("a", "b", "c", "d"), ("NOUN",) * 4, (2, 3, -1, 2), ("dep",) * 4)
    large = Sentence(tuple("abcdefgh"), ("VERB",) * 8, (-1, *[0] * 7), ("dep",) * 8)
    largest = Sentence(tuple("abcdef"), ("VERB",) * 6, (-1, *[0] * 5), ("dep",) * 6)
    about = Grammar.train([*good, crossing, large, largest, Sentence(("no", "tree"))]).about
    sizes = [len(items) for one in good for _, items, _ in nodes(one, Tree.without_closing_marks(one))]
    assert about["sentences"] == 54
    assert about["sentences with crossing arcs or without a tree"] == 2
    assert about["nodes of more than 6 items"] == sum(size > 6 for size in sizes) + 1
    assert about["nodes"] == sum(size <= 6 for size in sizes) + 1
    assert about["steps of the search, NOUN"] > 1 and about["steps of the search, VERB"] > 1


def test_the_best_weights_are_where_the_penalty_balances_the_likelihood() -> None:
    """Without a word on it the penalty is half the sum of squared weights."""
    seen: Counter[tuple[tuple[str, ...], tuple[int, ...]]] = Counter()
    sentences = list(Pocket().sentences(200))
    for sentence in sentences:
        for tag, items, order in nodes(sentence, Tree.without_closing_marks(sentence)):
            if CLASSES[tag] == "NOUN" and len(items) <= LARGEST:
                seen[items, order] += 1
    weights, objective = Grammar.train(sentences).weights["NOUN"], Likelihood(seen, l2=1.0)
    _, gradient = objective(np.array([weights[feature] for feature in objective.numbers]))
    assert np.abs(gradient).max() < 0.01 * objective.observed.max()


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("g.json", "h.json"):
        Grammar.train(Pocket(order="verbfinal").sentences(300), "verbfinal").save(tmp_path / name)
    assert (tmp_path / "g.json").read_bytes() == (tmp_path / "h.json").read_bytes()
