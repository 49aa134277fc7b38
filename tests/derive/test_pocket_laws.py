from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from calque.analysis.tasks.baselines import Gazetteer, Unigram
from calque.analysis.tasks.score import entity_f1
from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence, iob2

SIZES = pytest.mark.parametrize("types", [300, 1_000])
TRAIN, TEST = 1, 2


@cache
def sentences(types: int, stream: int) -> Sequence[Sentence]:
    return tuple(Pocket(types).sentences(3_000, stream, withhold=stream == TRAIN))


def examples(types: int, stream: int) -> list[Example]:
    return [Example(((sentence,),)) for sentence in sentences(types, stream)]


@SIZES
def test_a_table_of_words_tags_at_most_nine_words_in_ten(types: int) -> None:
    tags = [sentence.tags for sentence in sentences(types, TRAIN)]
    predict = Unigram().learn(zip(examples(types, TRAIN), tags, strict=True), str)
    predicted = np.concatenate(predict(examples(types, TEST), str))
    assert (
        np.mean(predicted == np.concatenate([sentence.tags for sentence in sentences(types, TEST)])) <= 0.90
    )


@SIZES
def test_a_list_of_the_training_names_finds_at_most_three_entities_in_four(types: int) -> None:
    gold = [iob2(sentence) for sentence in sentences(types, TRAIN)]
    predict = Gazetteer().learn(zip(examples(types, TRAIN), gold, strict=True), str)
    predicted = predict(examples(types, TEST), str)
    assert entity_f1([iob2(sentence) for sentence in sentences(types, TEST)], predicted).value <= 0.75
