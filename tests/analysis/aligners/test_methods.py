"""Methods by name: what each reads from hidden states."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from torch.nn.utils.rnn import pad_sequence

from analysis.aligners.extract import argmax, itermax
from analysis.aligners.methods import BY_NAME, CHOICES, DEFAULT, METHODS, OT, RELEASED, RULES, Method, asked, method
from analysis.aligners.scores import Transport
from pretrain.transport import EPSILON
from tests.analysis.aligners.scored import extracted, masks, padded
from tests.analysis.aligners.test_scores import sides, similarity_of


def test_the_released_rule_is_each_sides_best_of_its_own_last_scaling() -> None:
    """The released aligner, pair by pair: the best of each row of pi that is the best of its column of xi."""
    random = np.random.default_rng(5)
    products = [random.normal(1, 2, tuple(random.integers(2, 30, 2))) for _ in range(200)]
    tables = padded(products)
    ours = [np.zeros_like(table) for table in products]
    score, extract = RELEASED.score, RELEASED.extract
    assert isinstance(score, Transport)
    for pair, i, j in extract(score.plan(tables, *masks(products)), *masks(products)).tolist():
        ours[pair][i, j] = 1
    fewer = 0
    for table, links, filtered in zip(products, ours, extracted(itermax, products), strict=True):
        pi = np.maximum(table, EPSILON)
        for _ in range(2):
            xi = pi / pi.sum(0)
            pi = xi / xi.sum(1, keepdims=True)
        expected = np.zeros_like(table)
        for i, j in enumerate(pi.argmax(1)):
            expected[i, j] = xi[:, j].argmax() == i
        assert np.array_equal(links, expected)
        fewer += links.sum() < filtered.sum()
    assert fewer > 100  # it is not the rule that labels in pretraining


@pytest.mark.parametrize("turned", [False, True], ids=["one source sub-word", "one target sub-word"])
@pytest.mark.parametrize("method", [OT, RELEASED], ids=lambda method: method.name)
def test_one_sub_word_is_linked_to_the_one_most_like_it_in_any_batch(method: Method, turned: bool) -> None:
    """All its shares are equal, so that rounding, which changes with the batch, would choose."""
    random = np.random.default_rng(6)
    sizes = random.integers(2, 30, 40)
    states = [(random.normal(0.3, 1, (1, 16)), random.normal(0.3, 1, (m, 16))) for m in sizes]
    sides = [pair[::-1] if turned else pair for pair in states]
    columns = [[torch.from_numpy(side).float() for side in column] for column in zip(*sides, strict=True)]

    def links(chosen: list[int]) -> list[list[int]]:
        padded_sides = [pad_sequence([column[i] for i in chosen], batch_first=True) for column in columns]
        here = [pad_sequence([torch.ones(len(column[i])) for i in chosen], True).bool() for column in columns]
        found = method.extract(method.score(*padded_sides, *here), *here).tolist()
        return [[chosen[pair], i, j] for pair, i, j in found]

    together = links(list(range(40)))
    assert together == [link for i in range(40) for link in links([i])]
    best = [int((one @ many.T).argmax()) for one, many in states]
    assert [link[1 if turned else 2] for link in together] == best


def test_a_method_is_two_functions() -> None:
    method = Method("mine", Transport(first="rows"), argmax)
    states, every = torch.eye(3)[None], torch.ones(1, 3, dtype=torch.bool)
    links = method.extract(method.score(states, states, every, every), every, every)
    assert links.tolist() == [[0, 0, 0], [0, 1, 1], [0, 2, 2]]


def test_choices_are_named_by_what_is_unusual_in_them() -> None:
    assert [one.name for one in METHODS] == ["ot", "xlm-align", "argmax", "itermax", "match", "argmax-centred"]
    names = [one.name for one in CHOICES]
    assert len(set(names)) == len(names) == 19 and set(BY_NAME) < set(names)
    assert asked(None) == DEFAULT == BY_NAME["argmax-centred"]
    assert asked("ot") == OT and asked("xlm-align") is RELEASED
    for words, name in (
        ((None, None, "transport", None), "ot-argmax"),
        (("ot", None, None, "match"), "ot-match"),
        (("ot", "centred", None, None), "ot-itermax-centred"),
        (("argmax", None, "transport", None), "ot-argmax-cosine"),
        (("match", "products", None, None), "match-products"),
        ((None, "cosine", None, "itermax"), "itermax"),
    ):
        assert asked(*words).name == name
    for choice in CHOICES[:-1]:
        assert method(*_parts(choice)) == choice
    with pytest.raises(ValueError, match="a rule of its own"):
        asked("xlm-align", rule="match")


def _parts(choice: Method) -> tuple[str, str, str]:
    """What a choice is made of, read from its name."""
    plan, words = ("transport", choice.name.split("-")[1:]) if choice.name.startswith("ot") else ("direct", [])
    words = words if plan == "transport" else choice.name.split("-")
    rule = next((word for word in words if word in RULES), "itermax")
    usual = "products" if plan == "transport" else "cosine"
    return next((word for word in words if word not in RULES), usual), plan, rule


@pytest.mark.parametrize("choice", CHOICES[:-1], ids=lambda choice: choice.name)
def test_each_choice_is_its_similarity_plan_and_rule(choice: Method) -> None:
    """In loops, with NumPy, SciPy, and SimAlign's own Itermax."""
    similarity, plan, rule = _parts(choice)
    pairs, batch, here = sides(12, mean=1.0)  # hardly a product is negative, and so as good as any other that is
    links = choice.extract(choice.score(*batch, *here), *here).tolist()
    compared = 0
    for number, pair in enumerate(pairs):
        table = similarity_of(similarity, *pair)
        if plan == "transport":
            if 1 in table.shape:
                continue  # every share is the same, so there is nothing to choose by
            table = np.maximum(table, EPSILON)
            for _ in range(2):
                table = table / table.sum(0)
                table = table / table.sum(1, keepdims=True)
        else:
            table = (1 + table / (abs(table).max() if similarity == "products" else 1)) / 2
        found = sorted((i, j) for pair_number, i, j in links if pair_number == number)
        assert found == _linked(rule, table), number
        compared += len(found)
    assert compared > 25


def _linked(rule: str, table: np.ndarray) -> list[tuple[int, int]]:
    if rule == "match":
        rows, columns = linear_sum_assignment(table, maximize=True)
        return sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    if rule == "itermax":
        simalign = pytest.importorskip("simalign", reason="SimAlign is not installed")
        return sorted(map(tuple, np.argwhere(simalign.SentenceAligner.iter_max(table) > 0).tolist()))
    best, column_best = table.argmax(1), table.argmax(0)
    return [(i, int(j)) for i, j in enumerate(best) if column_best[j] == i]
