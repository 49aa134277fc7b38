from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from calque.derive.order import Invert, kendall_distance
from calque.derive.sentence import Sentence
from tests.derive.strategies import law, sentences


@law
@given(sentences(), st.sampled_from([1.0, 0.5]), st.integers(0, 99))
def test_inversion_twice_is_the_identity(sentence: Sentence, p: float, number: int) -> None:
    invert = Invert(p)
    once = invert(sentence, number)
    twice = invert(once, number)
    assert replace(twice, spans=()) == replace(sentence, spans=())
    if len(once.spans) == len(sentence.spans):  # a span that takes in the final mark is torn, and stays so
        assert twice.spans == sentence.spans


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("Sara ate two apples .", "apples two ate Sara ."),
        ("Sara ate two apples", "apples two ate Sara"),
        ("Really ? !", "? Really !"),
        (". NET is new", ". new is NET"),
        (".", "."),
    ],
)
def test_inversion_of_examples(text: str, image: str) -> None:
    assert " ".join(Invert()(Sentence(tuple(text.split()))).words) == image


@law
@given(st.integers(2, 30).flatmap(lambda n: st.permutations(range(n))))
def test_kendall_distance_is_scipys(order: list[int]) -> None:
    tau = kendalltau(range(len(order)), order).statistic
    assert kendall_distance(order) == pytest.approx((1 - tau) / 2)
