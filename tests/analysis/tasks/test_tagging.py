import numpy as np
import pytest

from analysis.tasks.pos import POS
from analysis.tasks.rows import UNLABELLED, Reader
from derive.example import Example
from derive.sentence import Sentence
from derive.types import OURS

FIRST = len(OURS.ids)
"""The first id that is not special."""

SENTENCE = Sentence(("ab", "c", "def"), ("X", "Y", "X"))
READER = Reader(lambda word: tuple(FIRST + ord(letter) - ord("a") for letter in word), np.arange(40), 0)


def test_a_label_stands_at_the_first_subword_of_its_word() -> None:
    (row,), whole = POS().rows(Example(((SENTENCE,),)), SENTENCE.tags, ("X", "Y"), READER, 20)
    assert row.targets.tolist() == [UNLABELLED, 0, UNLABELLED, 1, 0, UNLABELLED, UNLABELLED, UNLABELLED]
    assert whole


def test_answers_elsewhere_are_not_read() -> None:
    example = Example(((SENTENCE,),))
    rows, _ = POS().rows(example, SENTENCE.tags, ("X", "Y"), READER, 20)
    (said,) = (np.where(row.targets == UNLABELLED, 1, 1 - row.targets) for row in rows)
    assert POS().decode(example, rows, [np.append(said, [1, 1])], ("X", "Y")) == ("Y", "X", "Y")


def test_a_text_of_two_sentences_is_one_row_of_both() -> None:
    example = Example(((SENTENCE, SENTENCE),))
    assert POS().gold(example) == SENTENCE.tags * 2
    rows, _ = POS().rows(example, SENTENCE.tags * 2, ("X", "Y"), READER, 40)
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
