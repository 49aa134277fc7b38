"""The ordering model against its definition, and its file."""

import re
from pathlib import Path

import numpy as np
import pytest

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.grammar.model import Grammar
from derive.pocket.language import Pocket
from tests.derive.grammar import twin
from tests.derive.grammar.made import node, random_grammar


@pytest.mark.parametrize("n", range(2, 8))
def test_probabilities_are_those_of_the_definition(n: int) -> None:
    nodes = [node(n, seed) for seed in range(3 if n == 7 else 8)]
    grammar = random_grammar(nodes)
    for items in nodes:
        expected = twin.probabilities(grammar.weights["NOUN"], items)
        assert grammar.probabilities(items) == pytest.approx(expected, abs=1e-10, rel=0)


def test_without_weights_every_order_is_alike() -> None:
    assert np.allclose(Grammar("none", {}, {}).probabilities(node(5, 0, "VERB")), 1 / 120)


def test_large_weights_leave_numbers() -> None:
    """exp(900) is none; the best order is then as good as certain."""
    items = node(4, 0)
    weights = {feature: 900 * weight for feature, weight in random_grammar([items]).weights["NOUN"].items()}
    grammar = Grammar("large", {"NOUN": weights}, {})
    probabilities = grammar.probabilities(items)
    assert abs(grammar.scores(items)).max() > 900
    assert np.isfinite(probabilities).all() and probabilities.sum() == pytest.approx(1)
    assert probabilities.argmax() == grammar.scores(items).argmax()


@pytest.fixture(scope="module")
def learnt() -> Grammar:
    return Grammar.train(Pocket(order="verbfinal").sentences(800), "verbfinal")


def test_a_file_gives_the_grammar_back(learnt: Grammar, tmp_path: Path) -> None:
    learnt.save(tmp_path / "g.json")
    again = Grammar.load(tmp_path / "g.json")
    assert (again.name, again.weights, again.about) == (learnt.name, learnt.weights, learnt.about)
    again.save(tmp_path / "h.json")
    assert (tmp_path / "g.json").read_bytes() == (tmp_path / "h.json").read_bytes()


@pytest.mark.parametrize("weight", [0.0, 0.05, 0.5, 1.0])
def test_a_mixture_weighs_both(learnt: Grammar, weight: float) -> None:
    other = random_grammar([node(4, 0)])
    mixed = Grammar.mix(learnt, other, weight)
    for kind in ("NOUN", "VERB"):
        for feature, mixture in mixed.weights[kind].items():
            ours, theirs = (g.weights.get(kind, {}).get(feature, 0.0) for g in (learnt, other))
            assert mixture == pytest.approx((1 - weight) * ours + weight * theirs)
    items = node(4, 0)
    if weight in (0.0, 1.0):
        assert np.allclose(mixed.probabilities(items), (learnt, other)[int(weight)].probabilities(items))


def test_a_weight_is_a_fraction(learnt: Grammar) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Grammar.mix(learnt, learnt, 1.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "version 2; expected 1"),
        ({"weights": {"NOUN": {"adjacent + a": 1.0}}}, "damaged"),
        ({"weights": {"NOUN": {"adjacent + a + b": "much"}}}, "damaged"),
        ({"weights": {"NOUN": {"adjacent + a + b": 10**400}}}, "damaged"),
        ({"about": {"nodes": "many"}}, "damaged"),
        ({"weights": {"ADJ": {}}}, "damaged"),
        ({"weights": {"NOUN": {"sequnce + a + b + c": 1.0}}}, "damaged"),
        ({"weights": {"NOUN": {"sequence + a + b": 1.0}}}, "damaged"),
        ({"weights": {"NOUN": {"sequence + a + b + c + d + e + f": 1.0}}}, "damaged"),
        ({"weights": {"NOUN": {"adjacent + a + b": 1e308}}}, "damaged"),
        ({"weights": None}, "damaged"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "g.json"
    Grammar("g", {"NOUN": {("adjacent", "a", "b"): 1.0}}, {}).save(path)
    write_sealed(path, read_sealed(path) | change)
    with pytest.raises(BadInput, match=message) as raised:
        Grammar.load(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("{", "damaged, expected a grammar"),
        ("[" * 100_000, "nests too deeply"),
        (f'{{"format": {"1" * 5000}}}', "damaged, expected a grammar"),
        ("[]", "expected a grammar"),
        ('{"name": "x"}', "expected a grammar"),
    ],
)
def test_what_is_no_grammar_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "g.json").write_text(text)
    with pytest.raises(BadInput, match=message):
        Grammar.load(tmp_path / "g.json")


def test_a_changed_weight_is_refused(learnt: Grammar, tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    learnt.save(path)
    text = path.read_text(encoding="utf-8")
    places = [match.start() for match in re.finditer(r"\d(?=[\d.]*,\n)", text)]
    for place in places[:: len(places) // 20]:
        digit = "1" if text[place] != "1" else "2"
        path.write_text(text[:place] + digit + text[place + 1 :], encoding="utf-8")
        with pytest.raises(BadInput, match=r"g\.json: changed since it was written, expected a grammar"):
            Grammar.load(path)
