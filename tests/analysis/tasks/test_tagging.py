"""Tags: rows and decoding, the two tasks and their scores."""

import numpy as np
import pytest

from calque.analysis.records.record import Items
from calque.analysis.tasks.rows import UNLABELLED, Reader
from calque.analysis.tasks.score import Score
from calque.analysis.tasks.tagging import NER, POS
from calque.derive.example import Example
from calque.derive.order import Invert
from calque.derive.sentence import Sentence, Span
from calque.derive.transform import Account, image_of_example
from calque.derive.types import OURS

FIRST = len(OURS.ids)
"""The first id that is not special."""

SENTENCE = Sentence(("ab", "c", "def"), ("X", "Y", "X"))
READER = Reader(lambda word: tuple(FIRST + ord(letter) - ord("a") for letter in word), np.arange(40), 0)


def test_a_label_stands_at_the_first_subword_of_its_word() -> None:
    (row,), whole = POS().rows(Example(((SENTENCE,),)), ("X", "Y"), READER, 20)
    assert row.targets.tolist() == [UNLABELLED, 0, UNLABELLED, 1, 0, UNLABELLED, UNLABELLED, UNLABELLED]
    assert whole


def test_answers_elsewhere_are_not_read() -> None:
    example = Example(((SENTENCE,),))
    rows, _ = POS().rows(example, ("X", "Y"), READER, 20)
    (said,) = (np.where(row.targets == UNLABELLED, 1, 1 - row.targets) for row in rows)
    assert POS().decode(example, rows, [np.append(said, [1, 1])], ("X", "Y")) == ("Y", "X", "Y")


def test_a_text_of_two_sentences_is_one_row_of_both() -> None:
    example = Example(((SENTENCE, SENTENCE),))
    assert POS().gold(example) == SENTENCE.tags * 2
    rows, _ = POS().rows(example, ("X", "Y"), READER, 40)
    assert len(rows) == 1 and (rows[0].targets != UNLABELLED).sum() == 6


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (Example(((SENTENCE,), (SENTENCE,))), "expected one text, found 2"),
        (Example(((Sentence(("a", "b")),),)), "expected a tag for every word"),
        (Example(((Sentence(("a", "b"), ("X", "")),),)), "expected a tag for every word"),
    ],
)
def test_examples_of_another_task_are_refused(example: Example, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        POS().gold(example)


def test_both_scores_by_hand() -> None:
    gold = [["DET", "NOUN", "NOUN", "VERB"]]
    predicted = [["DET", "NOUN", "VERB", "VERB"]]
    scores = POS().scores(gold, predicted)
    assert scores["accuracy"] == Score(0.75, 4, Items.over([3], [4]))
    # As entities: DET, NOUN NOUN, VERB against DET, NOUN, VERB VERB; only DET agrees.
    assert scores["f1_bare_tags"].value == pytest.approx(1 / 3)
    assert scores["f1_bare_tags"].count == 3


def test_f1_of_bare_tags_is_over_the_gold_runs() -> None:
    (gold,), (said,) = [["DET", "NOUN", "NOUN"]], [["DET", "NOUN", "VERB"]]
    assert POS().scores([gold], [said])["f1_bare_tags"].count == 2
    assert POS().scores([said], [gold])["f1_bare_tags"].count == 3


def test_bare_tags_cannot_tell_two_conjunctions_apart_and_accuracy_can() -> None:
    scores = POS().scores([["NOUN", "CCONJ", "NOUN"]], [["NOUN", "SCONJ", "NOUN"]])
    assert scores["f1_bare_tags"].value == 1
    assert scores["accuracy"].value == pytest.approx(2 / 3)


def test_labels_do_not_depend_on_order() -> None:
    assert POS().labels([("X", "ADJ"), ("NOUN",)]) == POS().labels([("NOUN", "ADJ"), ("X",)]) == ("ADJ", "NOUN", "X")


def test_gold_is_iob2_after_reordering() -> None:
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert image is not None and tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")


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
