"""Shares of word orders: counted by hand on small trees, as grammars describe them on real ones."""

from pathlib import Path

import pytest

from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket
from calque.derive.readers.conllu import read_treebank
from calque.derive.sentence import Sentence
from calque.derive.typology import ORDERS, PREFERENCES, Share, out_of_reach, shares


def tree(text: str) -> Sentence:
    """`word/TAG/head/relation ...`, heads from 1, 0 for the root."""
    words, tags, heads, relations = zip(*(token.split("/") for token in text.split()), strict=True)
    return Sentence(words, tags, tuple(int(head) - 1 for head in heads), relations)


HE_SEES = tree(
    "that/SCONJ/6/mark the/DET/3/det man/NOUN/6/nsubj has/AUX/6/aux not/PART/6/advmod seen/VERB/0/root "
    "two/NUM/9/nummod red/ADJ/9/amod cars/NOUN/6/obj of/ADP/11/case Ann/PROPN/9/nmod in/ADP/13/case town/NOUN/6/obl"
)
CLITIC = tree("il/PRON/3/nsubj la/PRON/3/obj mange/VERB/0/root verte/ADJ/5/amod pomme/NOUN/3/dislocated")
PASSIVE = tree("apples/NOUN/3/nsubj:pass are/AUX/3/aux:pass eaten/VERB/0/root by/ADP/5/case him/PRON/3/obl:agent")


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


def test_shares_are_over_all_sentences_and_pronouns_are_no_clause_of_the_six_orders() -> None:
    found = shares([HE_SEES, CLITIC])
    assert found["objects after verbs"] == Share(2, 0.5)
    assert found["pronoun objects after verbs"] == Share(1, 0.0)
    assert found["subjects before verbs"] == Share(2, 1.0)
    assert found["SVO"] == Share(1, 1.0)


def test_passive_subjects_are_left_out_and_other_subtypes_are_not() -> None:
    found = shares([PASSIVE])
    assert "subjects before verbs" not in found
    assert found["auxiliaries before verbs"] == found["obliques after verbs"] == Share(1, 1.0)


def test_what_depends_on_other_heads_is_out_of_reach() -> None:
    found = out_of_reach([HE_SEES, CLITIC, PASSIVE], lambda sentence, head: sentence.tags[head] != "VERB")
    assert found["nsubj"] == found["obj"] == Share(2, 1.0)
    assert found["amod"] == Share(2, 0.0)
    assert found["aux"] == Share(2, 1.0)
    assert "root" not in found and "dislocated" not in found
    assert out_of_reach([tree("eats/VERB/0/root man/NOUN/1/nsubj")], lambda sentence, head: True) == {
        "nsubj": Share(1, 0.0)
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


def test_random_order_has_no_preference() -> None:
    sentences = [Permute()(sentence, number) for number, sentence in enumerate(Pocket(300).sentences(4_000))]
    for name, found in shares(sentences).items():
        expected = 1 / 6 if name in ORDERS else 1 / 2
        assert found.share == pytest.approx(expected, abs=4.5 * (expected * (1 - expected) / found.count) ** 0.5), name


def test_a_sentence_without_a_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="no tree to measure: a b"):
        shares([Sentence(("a", "b"), ("DET", "NOUN"))])
    assert shares([]) == {}


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
