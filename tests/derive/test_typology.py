"""Shares of word orders: counted by hand on small trees, as grammars describe them on real ones."""

from pathlib import Path

import pytest

from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.readers.conllu import read_treebank
from calque.derive.sentence import Sentence
from calque.derive.typology import ORDERS, PREFERENCES, Share, shares


def tree(text: str) -> Sentence:
    """`word/TAG/head/relation ...`, heads from 1, 0 for the root."""
    words, tags, heads, relations = zip(*(token.split("/") for token in text.split()), strict=True)
    return Sentence(words, tags, tuple(int(head) - 1 for head in heads), relations)


HE_SEES = tree(
    "that/SCONJ/6/mark the/DET/3/det man/NOUN/6/nsubj has/AUX/6/aux not/PART/6/advmod seen/VERB/0/root "
    "two/NUM/9/nummod red/ADJ/9/amod cars/NOUN/6/obj of/ADP/11/case Ann/PROPN/9/nmod in/ADP/13/case town/NOUN/6/obl"
)


def test_each_preference_is_counted_by_hand() -> None:
    assert shares([HE_SEES]) == {
        "adjectives after nouns": Share(1, 0.0),
        "genitives after nouns": Share(1, 1.0),
        "determiners before nouns": Share(1, 1.0),
        "numerals before nouns": Share(1, 1.0),
        "adpositions before nouns": Share(2, 1.0),
        "subjects before verbs": Share(1, 1.0),
        "objects after verbs": Share(1, 1.0),
        "obliques after verbs": Share(1, 1.0),
        "auxiliaries before verbs": Share(1, 1.0),
        "subordinators before verbs": Share(1, 1.0),
        **{order: Share(1, float(order == "SVO")) for order in ORDERS},
    }


@pytest.mark.parametrize("order", ORDERS)
def test_the_six_orders(order: str) -> None:
    verb = order.index("V") + 1
    token = {"S": f"s/NOUN/{verb}/nsubj", "O": f"o/PROPN/{verb}/obj", "V": "v/VERB/0/root"}
    found = shares([tree(" ".join(token[letter] for letter in order))])
    assert {name for name in ORDERS if found[name].share} == {order}


def test_a_mirror_has_the_opposite_shares() -> None:
    sentences = list(Pocket(300).sentences(500))
    mirror = Invert()
    before, after = shares(sentences), shares(map(mirror, sentences))
    assert before.keys() == after.keys()
    for one in PREFERENCES:
        assert after[one.name].count == before[one.name].count
        assert after[one.name].share == pytest.approx(1 - before[one.name].share)
    for order in ORDERS:
        assert after[order] == before[order[::-1]]


def test_what_no_reordering_reaches_is_left_out() -> None:
    sentences = list(Pocket(300).sentences(500))
    nouns = shares(sentences, lambda sentence, head: sentence.tags[head] in ("NOUN", "PROPN", "PRON"))
    assert nouns["adjectives after nouns"] == shares(sentences)["adjectives after nouns"]
    assert not nouns.keys() & {"objects after verbs", "SVO"}
    assert shares(sentences, lambda sentence, head: False) == {}


@pytest.mark.parametrize(
    ("treebank", "expected"),
    [
        ("UD_English-EWT/en_ewt-ud-dev", {"adjectives after nouns": (0, 0.05), "SVO": (0.95, 1)}),
        ("UD_French-Sequoia/fr_sequoia-ud-train", {"adjectives after nouns": (0.6, 0.85), "SVO": (0.98, 1)}),
        ("UD_Japanese-GSD/ja_gsd-ud-dev", {"objects after verbs": (0, 0.01), "adpositions before nouns": (0, 0.01)}),
        ("UD_Irish-IDT/ga_idt-ud-dev", {"VSO": (0.95, 1), "adjectives after nouns": (0.95, 1)}),
    ],
)
def test_real_languages_are_what_grammars_say(
    calque_data: Path, treebank: str, expected: dict[str, tuple[float, float]]
) -> None:
    found = shares(read_treebank(calque_data / "ud" / f"{treebank}.conllu"))
    for name, (low, high) in expected.items():
        assert low <= found[name].share <= high, name
