from dataclasses import replace

import pytest

from calque.analysis.tasks.catalog import TASKS, task
from calque.analysis.tasks.classification import TextLabels
from calque.analysis.tasks.tagging import NER, Tagging
from calque.derive.example import Example
from calque.derive.order import Invert
from calque.derive.sentence import Sentence, Span
from calque.derive.transform import Account, image_of_example

SENTENCE = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))


@pytest.mark.parametrize("name", TASKS)
def test_gold_scores_one_in_every_metric(name):
    made = task(name)
    texts = ((SENTENCE,),) if isinstance(made, Tagging | TextLabels) else ((SENTENCE,), (SENTENCE,))
    if name == "word_labels":
        texts = ((replace(SENTENCE, spans=(Span(0, 2, "X"),)),),)
    gold = [made.gold(Example(texts, "1" if name == "paraphrase" else "entailment"))]
    scores = made.scores(gold, gold)
    assert list(scores) == [metric.name for metric in made.metrics]
    assert made.primary in scores and (made.printed or made.primary) in scores
    assert all(score.value == 1 for score in scores.values())


def test_gold_is_iob2_after_reordering():
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")
