""""""

import json
from dataclasses import replace

import pytest

from calque.analysis.tasks.catalog import TASKS, metric_title, task, task_title
from calque.analysis.tasks.classification import NLI, Paraphrase, TextLabels
from calque.analysis.tasks.questions import XQuAD
from calque.analysis.tasks.tagging import POS, Tagging
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.sentence import Sentence, Span

SENTENCE = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_written_as_it_names_itself(name: str) -> None:
    assert task(name).name == name


def test_an_unknown_task_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match=f"no task is called 'qb'; there are {', '.join(TASKS)}"):
        task("qb")


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


def test_titles() -> None:
    assert [task_title(name) for name in ("nli", "ner", "xquad", "paraphrase")] == ["NLI", "NER", "XQuAD", "Paraphrase"]
    assert [metric_title(name) for name in ("accuracy", "f1", "f1_bare_tags")] == ["accuracy", "F1", "F1 on bare tags"]
    assert (task_title("bucc"), metric_title("em")) == ("bucc", "em")


def test_tags_stand_in_lines_with_a_blank_one_after_each_sentence() -> None:
    name, text = POS().submission("de", [], [("DET", "NOUN"), ("VERB",)], "xtreme")
    assert (name, text) == ("udpos/test-de.tsv", "DET\nNOUN\n\nVERB\n\n")


def test_tags_of_syntactic_words_are_no_submission() -> None:
    assert POS().submission("de", [], [("DET",)]) == ("pos/test-de.tsv", "DET\n\n")


def test_labels_stand_in_lines() -> None:
    assert NLI().submission("fr", [], [("neutral",), ("entailment",)]) == (
        "xnli/test-fr.tsv",
        "neutral\nentailment\n",
    )
    assert Paraphrase().submission("zh", [], [("1",)])[0] == "pawsx/test-zh.tsv"


def test_answers_stand_by_their_ids() -> None:
    examples = [Example((), id="q1"), Example((), id="q2")]
    name, text = XQuAD().submission("zh", examples, [("北京",), ("",)])
    assert name == "xquad/test-zh.json" and json.loads(text) == {"q1": "北京", "q2": ""}
