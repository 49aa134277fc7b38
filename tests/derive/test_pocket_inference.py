"""Inference pairs: labels follow from the sentences, and neither from one of them nor from their outside."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from calque.analysis.tasks.baselines import Shallow
from calque.derive.example import Example
from calque.derive.pocket.inference import (
    GENERAL,
    LABELS,
    SHARES,
    SPECIFIC,
    VIEWS,
    PairCase,
    Statement,
    families,
    infer,
)
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.pairs import balanced
from tests.derive.reading import Lore, Reading

ITEMS = 5_000
SIZES = pytest.mark.parametrize("types", [300, 1_000])


@cache
def pairs(types: int) -> tuple[Example, ...]:
    """What is learnt from, and after it what is asked."""
    return tuple(Pocket(types).pairs(2 * ITEMS))


def texts(example: Example) -> tuple[str, ...]:
    return tuple(" ".join(sentence.words) for (sentence,) in example.texts)


def labels(examples: tuple[Example, ...]) -> np.ndarray:
    return np.array([example.label for example in examples])


@SIZES
def test_labels_are_in_equal_shares_and_no_pair_comes_twice(types: int) -> None:
    assert len({texts(pair) for pair in pairs(types)}) == 2 * ITEMS
    assert Counter(pair.label for pair in pairs(types)[: 3 * 3_333]) == dict.fromkeys(LABELS, 3_333)


@SIZES
@pytest.mark.parametrize("side", [0, 1], ids=["premise", "hypothesis"])
def test_one_side_alone_tells_nothing(types: int, side: int) -> None:
    known, asked = pairs(types)[:ITEMS], pairs(types)[ITEMS:]
    words = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+")
    model = LogisticRegression(C=0.3, max_iter=1_000)
    model.fit(words.fit_transform(texts(pair)[side] for pair in known), labels(known))
    right = model.predict(words.transform(texts(pair)[side] for pair in asked)) == labels(asked)
    assert np.mean(right) <= majority(asked) + 0.03


@SIZES
def test_sixteen_shallow_features_tell_little(types: int) -> None:
    known, asked = pairs(types)[:ITEMS], pairs(types)[ITEMS:]
    learnt = Shallow().learn(((pair, (pair.label,)) for pair in known), str)
    right = np.array([answer[0] for answer in learnt(asked, str)]) == labels(asked)
    assert np.mean(right) <= majority(asked) + 0.15


def majority(asked: tuple[Example, ...]) -> float:
    return max(Counter(pair.label for pair in asked).values()) / len(asked)


@SIZES
def test_labels_follow_from_what_the_sentences_say(types: int) -> None:
    lore = Lore(types)
    for pair in pairs(types)[:3_000]:
        premise, hypothesis = (Reading(sentence, lore) for (sentence,) in pair.texts)
        assert premise.says_of(hypothesis) == pair.label, texts(pair)


@pytest.mark.parametrize("order", ["romance", "verbfinal", "verbinitial"])
def test_other_word_orders_say_the_same_pairs(order: str) -> None:
    for pair, other in zip(Pocket(300).pairs(200), Pocket(300, order=order).pairs(200), strict=True):
        assert (other.label, other.diagnostic) == (pair.label, pair.diagnostic)
        assert [sorted(text.split()) for text in texts(other)] == [sorted(text.split()) for text in texts(pair)]


@pytest.mark.parametrize("family", SHARES)
def test_what_is_seen_is_equally_frequent_under_every_label(family: str) -> None:
    for view in VIEWS:
        seen: defaultdict[object, dict[str, float]] = defaultdict(lambda: dict.fromkeys(LABELS, 0.0))
        for case in families()[family]:
            seen[view(case)][case.label] += case.weight
        for weights in seen.values():
            assert max(weights.values()) - min(weights.values()) < 1e-9


def test_cases_that_give_their_label_away_are_left_out() -> None:
    """What entails is always more general: then a general hypothesis could not be neutral."""
    up = PairCase(Statement(SPECIFIC), Statement(GENERAL), None, "up")
    down = PairCase(Statement(GENERAL), Statement(SPECIFIC), None, "down")
    assert (up.label, down.label) == ("entailment", "neutral")
    with pytest.raises(ValueError, match="no weights balance these cases"):
        balanced([up, down], VIEWS)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        (Statement(), Statement(GENERAL), "entailment"),
        (Statement(GENERAL), Statement(), "neutral"),
        (Statement(polarity="always"), Statement(polarity="never", pole=1), "entailment"),
        (Statement(), Statement(exchanged=True), "neutral"),
        (Statement(), Statement(passive=True), "entailment"),
        (Statement(count=0), Statement(count=1), "contradiction"),
        (Statement(manner=0, place=0), Statement(place=0), "entailment"),
        (Statement(place=0), Statement(manner=0, place=0), "neutral"),
        (Statement(place=0), Statement(manner=0, place=1), "contradiction"),
        (Statement(determiner="every"), Statement(GENERAL, determiner="every"), "neutral"),
        (Statement(GENERAL, determiner="every"), Statement(determiner="every"), "entailment"),
        (Statement(determiner="no"), Statement(pole=1, determiner="a"), "entailment"),
        (Statement(determiner="no"), Statement(GENERAL, determiner="a"), "neutral"),
    ],
)
def test_conventions(premise: Statement, hypothesis: Statement, expected: str) -> None:
    assert infer(premise, hypothesis) == expected
