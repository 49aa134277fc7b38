import pytest

from analysis.records.items import Items
from analysis.tasks.nli import NLI
from analysis.tasks.score import Score
from derive.example import Example
from derive.sentence import Sentence

SENTENCE = Sentence(("Sara", "sleeps"))


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
    with pytest.raises(ValueError, match="the label '1', as of paraphrases"):
        NLI().gold(Example(((SENTENCE,), (SENTENCE,)), "1"))
