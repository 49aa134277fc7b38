from collections import Counter

import pytest

from calque.derive.pocket.language import Pocket
from calque.derive.pocket.tree import ORDERS
from calque.derive.sentence import Sentence

SISTERS = [name for name in ORDERS if name != "english"]
SPOKEN = {name: tuple(Pocket(600, order=name).sentences(4_000)) for name in ORDERS}


def words(sentence: Sentence) -> Counter[str]:
    """Its words, with `a` for `an`: that depends on the next word, so on the order."""
    return Counter("a" if word == "an" else word for word in sentence.words)


@pytest.mark.parametrize("name", SISTERS)
def test_a_sister_has_english_words_names_and_relations(name: str) -> None:
    for english, sister in zip(SPOKEN["english"], SPOKEN[name], strict=True):
        assert words(sister) == words(english)
        assert sorted(zip(sister.tags, sister.relations, strict=True)) == sorted(
            zip(english.tags, english.relations, strict=True)
        )
        assert sister.origin == tuple(range(len(sister)))
