import pytest

from analysis.records.items import Items
from analysis.tasks.pos import POS
from analysis.tasks.score import Score


def test_both_scores_by_hand() -> None:
    gold = [["DET", "NOUN", "NOUN", "VERB"]]
    predicted = [["DET", "NOUN", "VERB", "VERB"]]
    scores = POS().scores(gold, predicted)
    assert scores["accuracy"] == Score(0.75, 4, Items.over([3], [4]))
    # As entities: DET, NOUN NOUN, VERB against DET, NOUN, VERB VERB; only DET agrees.
    assert scores["f1_bare_tags"].value == pytest.approx(1 / 3)
    assert scores["f1_bare_tags"].count == 3


def test_f1_is_over_the_gold_entities_however_many_are_predicted() -> None:
    (gold,), (said,) = [["DET", "NOUN", "NOUN"]], [["DET", "NOUN", "VERB"]]
    assert POS().scores([gold], [said])["f1_bare_tags"].count == 2
    assert POS().scores([said], [gold])["f1_bare_tags"].count == 3


def test_bare_tags_cannot_tell_two_conjunctions_apart_and_accuracy_can() -> None:
    scores = POS().scores([["NOUN", "CCONJ", "NOUN"]], [["NOUN", "SCONJ", "NOUN"]])
    assert scores["f1_bare_tags"].value == 1
    assert scores["accuracy"].value == pytest.approx(2 / 3)


def test_labels_do_not_depend_on_order() -> None:
    assert POS().labels([("X", "ADJ"), ("NOUN",)]) == POS().labels([("NOUN", "ADJ"), ("X",)]) == ("ADJ", "NOUN", "X")
