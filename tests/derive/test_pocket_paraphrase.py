from collections import Counter
from functools import cache

import pytest

from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence

ITEMS = 5_000
SIZES = pytest.mark.parametrize("types", [300, 1_000])


@cache
def pairs(types: int) -> tuple[Example, ...]:
    return tuple(Pocket(types).paraphrases(2 * ITEMS))


def roles(sentence: Sentence) -> tuple[str, str]:
    words = dict(zip(sentence.relations, sentence.words, strict=True))
    if "obl:agent" in words:
        return words["obl:agent"], words["nsubj:pass"]
    return words["nsubj"], words["obj"]


@SIZES
def test_labels_follow_from_who_did_it_to_whom(types: int) -> None:
    for pair in pairs(types):
        (one,), (other,) = pair.texts
        same = roles(one) == roles(other)
        assert same or roles(one) == roles(other)[::-1]
        assert pair.label == str(int(same))


@SIZES
def test_labels_are_in_equal_shares_and_no_pair_comes_twice(types: int) -> None:
    assert set(Counter(pair.label for pair in pairs(types)).values()) == {ITEMS}
    assert len({tuple(sentence.words for (sentence,) in pair.texts) for pair in pairs(types)}) == 2 * ITEMS
