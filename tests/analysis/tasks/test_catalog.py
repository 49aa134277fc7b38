import pytest

from analysis.tasks.catalog import TASKS, metric_title, task, task_title
from analysis.tasks.tagging import Tagging
from derive.errors import BadInput
from derive.example import Example
from derive.sentence import Sentence, Span

SENTENCE = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_written_as_it_names_itself(name: str) -> None:
    assert task(name).name == name


def test_an_unknown_task_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        BadInput, match="no task is called 'qb'; there are nli, ner, pos, qa, xquad, mlqa, tydiqa, paraphrase"
    ):
        task("qb")


@pytest.mark.parametrize("name", TASKS)
def test_a_task_scores_the_metrics_that_it_names_and_gold_is_perfect(name: str) -> None:
    made = task(name)
    texts = ((SENTENCE,),) if isinstance(made, Tagging) else ((SENTENCE,), (SENTENCE,))
    gold = [made.gold(Example(texts, "1" if name == "paraphrase" else "entailment"))]
    scores = made.scores(gold, gold)
    assert list(scores) == [metric.name for metric in made.metrics]
    assert made.primary in scores and made.printed in scores
    assert all(score.value == 1 for score in scores.values())


def test_titles() -> None:
    assert [task_title(name) for name in TASKS] == ["NLI", "NER", "POS", "QA", "XQuAD", "MLQA", "TyDiQA", "Paraphrase"]
    assert [metric_title(name) for name in ("accuracy", "f1", "f1_bare_tags")] == ["accuracy", "F1", "F1 on bare tags"]
    assert (task_title("bucc"), metric_title("em")) == ("bucc", "em")
