"""Texts with one label: rows and decoding, the two tasks and their labels."""

import numpy as np
import pytest

from calque.analysis.tasks.classification import NLI
from calque.analysis.tasks.rows import Reader
from calque.derive.example import Example
from calque.derive.sentence import Sentence
from calque.derive.types import OURS

FIRST = len(OURS.ids)
"""The first id that is not special."""

READER = Reader(lambda word: (FIRST + ord(word) - ord("a"),), np.arange(40), 0)
SENTENCE = Sentence(("Sara", "sleeps"))
PAIR = Example(((Sentence(("a",)), Sentence(("b",))), (Sentence(("c",)),)), "no")


def test_sentences_of_a_text_stand_one_after_another_and_texts_apart() -> None:
    (row,), whole = NLI().rows(PAIR, ("maybe", "no"), READER, 20)
    assert row.ids.tolist() == [OURS.start, FIRST, FIRST + 1, OURS.end, OURS.end, FIRST + 2, OURS.end]
    assert (row.targets.tolist(), whole) == ([1], True)


@pytest.mark.parametrize("example", [Example(((SENTENCE,),), "neutral"), Example(((SENTENCE,), (SENTENCE,)))])
def test_half_a_pair_or_no_label_is_refused(example: Example) -> None:
    with pytest.raises(ValueError):
        NLI().gold(example)


SENTENCE = Sentence(("Sara", "sleeps"))
