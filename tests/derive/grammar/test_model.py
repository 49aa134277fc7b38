import os
import random
import subprocess
import sys
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from calque.derive.grammar import Grammar, Likelihood
from calque.derive.pocket.language import Pocket
from tests.derive.grammar import twin
from tests.derive.grammar.made import node, random_grammar


@pytest.mark.parametrize("n", range(2, 8))
def test_probabilities_equal_their_definition(n):
    nodes = [node(n, seed) for seed in range(3 if n == 7 else 8)]
    grammar = random_grammar(nodes)
    for items in nodes:
        expected = twin.probabilities(grammar.weights["NOUN"], items)
        assert grammar.probabilities(items) == pytest.approx(expected, abs=1e-10, rel=0)


@pytest.fixture(scope="module")
def learnt():
    return Grammar.train(Pocket(order="verbfinal").sentences(800))


def test_grammars_round_trip(learnt, tmp_path):
    learnt.save(tmp_path / "g.json")
    again = Grammar.load(tmp_path / "g.json")
    assert again.weights == learnt.weights
    again.save(tmp_path / "h.json")
    assert (tmp_path / "g.json").read_bytes() == (tmp_path / "h.json").read_bytes()


@pytest.mark.parametrize("weight", [0.0, 0.05, 0.5, 1.0])
def test_mixed_grammar_weighs_both(learnt, weight):
    other = random_grammar([node(4, 0)])
    mixed = Grammar.mix(learnt, other, weight)
    for kind in ("NOUN", "VERB"):
        for feature, mixture in mixed.weights[kind].items():
            ours, theirs = (g.weights.get(kind, {}).get(feature, 0.0) for g in (learnt, other))
            assert mixture == pytest.approx((1 - weight) * ours + weight * theirs)
    items = node(4, 0)
    if weight in (0.0, 1.0):
        assert np.allclose(mixed.probabilities(items), (learnt, other)[int(weight)].probabilities(items))


def orders_seen(sizes, seeds):
    order = {(n, s): tuple(random.Random(s).sample(range(n), n)) for n in sizes for s in range(seeds)}
    return Counter({(node(n, s), order[n, s]): s + 1 for n, s in order})


def test_gradient_equals_finite_differences():
    objective = Likelihood(orders_seen((2, 3, 5), 4), l2=0.7)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=len(objective.numbers))
    _, gradient = objective(weights)
    for _ in range(20):
        direction = rng.normal(size=len(weights))
        step = 1e-5 * direction
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert slope == pytest.approx(gradient @ direction, rel=1e-6, abs=1e-6)


def test_likelihood_equals_its_definition():
    seen = orders_seen((2, 4, 5), 3)
    objective = Likelihood(seen, l2=0.5)
    values = np.random.default_rng(1).normal(size=len(objective.numbers))
    weights = {feature: float(values[number]) for feature, number in objective.numbers.items()}
    expected = 0.25 * values @ values
    for (items, order), count in seen.items():
        place = list(permutations(range(len(items)))).index(order)
        expected -= count * np.log(twin.probabilities(weights, items)[place])
    assert objective(values)[0] == pytest.approx(expected, rel=1e-10)


LEARN = """
from itertools import islice
from pathlib import Path
import sys
from calque.derive.grammar import Grammar
from calque.derive.pocket.language import Pocket
Grammar.train(islice(Pocket(order="romance").sentences(300), 300)).save(Path(sys.argv[1]))
"""


def test_thread_count_changes_no_weight(tmp_path):
    for threads in ("1", "2"):
        environment = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", LEARN, tmp_path / threads], env=environment, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
