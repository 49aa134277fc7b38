import pytest

from analysis.tasks.ner import NER
from derive.example import Example
from derive.image import Account, image_of_example
from derive.order import Invert
from derive.sentence import Sentence, Span


def test_gold_is_iob2_after_reordering() -> None:
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    assert tuple(NER().gold(image_of_example(Invert(), example, 0, Account()))) == ("B-LOC", "O", "B-PER", "I-PER", "O")


def test_a_span_must_agree_in_both_ends_and_type() -> None:
    gold = [["B-PER", "I-PER", "O"]]
    for near in (["B-PER", "O", "O"], ["B-LOC", "I-LOC", "O"], ["B-PER", "I-PER", "I-PER"]):
        assert NER().scores(gold, [near])["f1"].value == 0
    assert NER().scores(gold, gold)["f1"].value == 1


def test_f1_is_over_the_gold_entities_however_many_are_predicted() -> None:
    scores = NER().scores([["B-PER", "O", "O"]], [["B-PER", "B-PER", "B-LOC"]])
    assert (scores["f1"].value, scores["f1"].count, scores["accuracy"].count) == (pytest.approx(2 / 4), 1, 3)


def test_a_longer_entity_than_any_in_training_can_be_predicted() -> None:
    assert NER().labels([("O", "B-PER"), ("B-LOC", "I-LOC")]) == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def test_gold_without_entities_has_no_f1() -> None:
    with pytest.raises(ValueError, match="no entity"):
        NER().scores([["O", "O"]], [["O", "B-PER"]])
