import numpy as np
import pytest

from analysis.tasks.nli import NLI
from analysis.tasks.rows import Reader
from derive.example import Example
from derive.sentence import Sentence
from derive.types import OURS

FIRST = len(OURS.ids)
"""The first id that is not special."""

READER = Reader(lambda word: (FIRST + ord(word) - ord("a"),), np.arange(40), 0)
PAIR = Example(((Sentence(("a",)), Sentence(("b",))), (Sentence(("c",)),)), "no")


def test_sentences_of_a_text_stand_one_after_another_and_texts_apart() -> None:
    (row,), whole = NLI().rows(PAIR, ("no",), ("maybe", "no"), READER, 20)
    assert row.ids.tolist() == [OURS.start, FIRST, FIRST + 1, OURS.end, OURS.end, FIRST + 2, OURS.end]
    assert (row.targets.tolist(), whole) == ([1], True)


def test_what_does_not_fit_is_told() -> None:
    (row,), whole = NLI().rows(PAIR, ("no",), ("maybe", "no"), READER, 6)
    assert (len(row.ids), whole) == (6, False)


def test_the_answer_is_one_label() -> None:
    rows, _ = NLI().rows(PAIR, ("no",), ("maybe", "no"), READER, 20)
    assert NLI().decode(PAIR, rows, [np.array([0])], ("maybe", "no")) == ("maybe",)


def test_labels_are_those_of_training_in_order() -> None:
    assert NLI().labels([("no",), ("maybe",), ("no",)]) == ("maybe", "no")


@pytest.mark.parametrize("texts", [1, 3])
def test_another_number_of_texts_is_refused(texts: int) -> None:
    with pytest.raises(ValueError, match=f"expected a premise and a hypothesis, found {texts} texts"):
        NLI().gold(Example(((Sentence(("a",)),),) * texts, "no"))


def test_a_pair_without_a_label_is_refused() -> None:
    with pytest.raises(ValueError, match="no label"):
        NLI().gold(Example(PAIR.texts))
