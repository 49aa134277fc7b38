""""""

import json
from dataclasses import replace

import pytest

from calque.analysis.tasks.catalog import TASKS, task
from calque.analysis.tasks.classification import TextLabels
from calque.analysis.tasks.questions import XQuAD
from calque.analysis.tasks.tagging import POS, Tagging
from calque.derive.example import Example
from calque.derive.sentence import Sentence, Span

SENTENCE = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_scores_the_metrics_that_it_names_and_gold_is_perfect(name: str) -> None:
    made = task(name)
    texts = ((SENTENCE,),) if isinstance(made, Tagging | TextLabels) else ((SENTENCE,), (SENTENCE,))
    if name == "word_labels":
        texts = ((replace(SENTENCE, spans=(Span(0, 2, "X"),)),),)
    gold = [made.gold(Example(texts, "1" if name == "paraphrase" else "entailment"))]
    scores = made.scores(gold, gold)
    assert list(scores) == [metric.name for metric in made.metrics]
    assert made.primary in scores and (made.printed or made.primary) in scores
    assert all(score.value == 1 for score in scores.values())


def test_tags_stand_in_lines_with_a_blank_one_after_each_sentence() -> None:
    name, text = POS().submission("de", [], [("DET", "NOUN"), ("VERB",)], "xtreme")
    assert (name, text) == ("udpos/test-de.tsv", "DET\nNOUN\n\nVERB\n\n")


def test_answers_stand_by_their_ids() -> None:
    examples = [Example((), id="q1"), Example((), id="q2")]
    name, text = XQuAD().submission("zh", examples, [("北京",), ("",)])
    assert name == "xquad/test-zh.json" and json.loads(text) == {"q1": "北京", "q2": ""}
