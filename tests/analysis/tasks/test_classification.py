"""Texts with one label: rows and decoding, the two tasks and their labels."""

import numpy as np
import pytest

from calque.analysis.records.record import Items
from calque.analysis.tasks.classification import NLI, Paraphrase
from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.score import Score
from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
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


def test_what_does_not_fit_is_told() -> None:
    (row,), whole = NLI().rows(PAIR, ("maybe", "no"), READER, 6)
    assert (len(row.ids), whole) == (6, False)


def test_the_answer_is_one_label() -> None:
    rows, _ = NLI().rows(PAIR, ("maybe", "no"), READER, 20)
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


def test_a_pair_has_one_label() -> None:
    assert NLI().gold(Example(((SENTENCE,), (SENTENCE,)), "neutral")) == ("neutral",)


@pytest.mark.parametrize("example", [Example(((SENTENCE,),), "neutral"), Example(((SENTENCE,), (SENTENCE,)))])
def test_half_a_pair_or_no_label_is_refused(example: Example) -> None:
    with pytest.raises(ValueError):
        NLI().gold(example)


def test_accuracy_counts_pairs() -> None:
    assert NLI().scores([["neutral"], ["entailment"]], [["neutral"], ["neutral"]])["accuracy"] == Score(
        0.5, 2, Items.over([1, 0], [1, 1])
    )


def test_labels_of_paraphrases_are_none_of_inference() -> None:
    with pytest.raises(ValueError, match="the label '1' looks like a paraphrase's"):
        NLI().gold(Example(((SENTENCE,), (SENTENCE,)), "1"))


SENTENCE = Sentence(("Sara", "sleeps"))


def test_labels_are_those_of_the_data() -> None:
    pairs = list(Pocket(300).paraphrases(20))
    gold = [Paraphrase().gold(pair) for pair in pairs]
    assert Paraphrase().labels(gold) == ("0", "1")
    with pytest.raises(ValueError, match="a first sentence and a second sentence, found 1"):
        Paraphrase().gold(Example(((SENTENCE,),), "0"))


def test_accuracy_counts_paraphrases() -> None:
    assert Paraphrase().scores([["0"], ["1"]], [["0"], ["0"]])["accuracy"] == Score(0.5, 2, Items.over([1, 0], [1, 1]))


def test_labels_of_inference_are_none_of_paraphrases() -> None:
    with pytest.raises(ValueError, match="the label 'neutral'; expected 1"):
        Paraphrase().gold(Example(((SENTENCE,), (SENTENCE,)), "neutral"))
