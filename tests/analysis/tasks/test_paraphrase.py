import pytest

from analysis.records.items import Items
from analysis.tasks.paraphrase import Paraphrase
from analysis.tasks.score import Score
from derive.example import Example
from derive.pocket.language import Pocket
from derive.sentence import Sentence

SENTENCE = Sentence(("Sara", "sleeps"))


def test_labels_are_those_of_the_data() -> None:
    pairs = list(Pocket(300).paraphrases(20))
    gold = [Paraphrase().gold(pair) for pair in pairs]
    assert Paraphrase().labels(gold) == ("0", "1")
    with pytest.raises(ValueError, match="a first sentence and a second sentence, found 1"):
        Paraphrase().gold(Example(((SENTENCE,),), "0"))


def test_accuracy_counts_pairs() -> None:
    assert Paraphrase().scores([["0"], ["1"]], [["0"], ["0"]])["accuracy"] == Score(0.5, 2, Items.over([1, 0], [1, 1]))


def test_labels_of_inference_are_none_of_paraphrases() -> None:
    with pytest.raises(ValueError, match="the label 'neutral'; expected 1"):
        Paraphrase().gold(Example(((SENTENCE,), (SENTENCE,)), "neutral"))
