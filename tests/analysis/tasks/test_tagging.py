"""Tags: rows and decoding, the two tasks and their scores."""

import numpy as np
import pytest

from calque.analysis.tasks.rows import Reader
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


def test_gold_is_iob2_after_reordering() -> None:
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert image is not None and tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")
