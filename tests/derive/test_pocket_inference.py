from collections import Counter, defaultdict
from functools import cache

import pytest

from calque.derive.example import Example
from calque.derive.pocket.inference import LABELS, SHARES, VIEWS, families
from calque.derive.pocket.language import Pocket
from tests.derive.reading import Lore, Reading

ITEMS = 5_000
SIZES = pytest.mark.parametrize("types", [300, 1_000])


@cache
def pairs(types: int) -> tuple[Example, ...]:
    return tuple(Pocket(types).pairs(2 * ITEMS))


def texts(example: Example) -> tuple[str, ...]:
    return tuple(" ".join(sentence.words) for (sentence,) in example.texts)


@SIZES
def test_labels_are_in_equal_shares_and_no_pair_comes_twice(types: int) -> None:
    assert len({texts(pair) for pair in pairs(types)}) == 2 * ITEMS
    assert Counter(pair.label for pair in pairs(types)[: 3 * 3_333]) == dict.fromkeys(LABELS, 3_333)


@SIZES
def test_labels_follow_from_the_meaning_of_the_sentences(types: int) -> None:
    lore = Lore(types)
    for pair in pairs(types)[:3_000]:
        premise, hypothesis = (Reading(sentence, lore) for (sentence,) in pair.texts)
        assert premise.says_of(hypothesis) == pair.label, texts(pair)


@pytest.mark.parametrize("order", ["romance", "verbfinal", "verbinitial"])
def test_other_word_orders_have_the_same_pairs(order: str) -> None:
    for pair, other in zip(Pocket(300).pairs(200), Pocket(300, order=order).pairs(200), strict=True):
        assert (other.label, other.diagnostic) == (pair.label, pair.diagnostic)
        assert [sorted(text.split()) for text in texts(other)] == [
            sorted(text.split()) for text in texts(pair)
        ]


@pytest.mark.parametrize("family", SHARES)
def test_surface_features_are_equally_frequent_under_every_label(family: str) -> None:
    for view in VIEWS:
        seen: defaultdict[object, dict[str, float]] = defaultdict(lambda: dict.fromkeys(LABELS, 0.0))
        for case in families()[family]:
            seen[view(case)][case.label] += case.weight
        for weights in seen.values():
            assert max(weights.values()) - min(weights.values()) < 1e-9
