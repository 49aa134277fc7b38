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


def test_gold_is_iob2_after_reordering() -> None:
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert image is not None and tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")
