"""Tests that the task reads its table and scores right and wrong answers."""

from collections import Counter
from pathlib import Path

import pytest

from calque.derive.example import Example
from calque.derive.sources.files import READERS
from calque.experiments.templates.my_task import MyTask, my_task

TASK = MyTask()
ROWS = [
    ("the soup is warm .", "food"),
    ("the cook ate two apples .", "food"),
    ("the train is late .", "travel"),
]


@pytest.fixture
def examples(tmp_path: Path) -> list[Example]:
    """The examples read from a table with the rows `ROWS`."""
    table = tmp_path / "table.tsv"
    table.write_text(
        "".join(f"{text}\t{label}\n" for text, label in [("text", "label"), *ROWS]), encoding="utf-8"
    )
    return list(READERS[TASK.data](table, Counter()))


def test_it_reads_the_texts_and_labels_of_a_table(examples: list[Example]) -> None:
    assert [" ".join(example.texts[0][0].words) for example in examples] == [text for text, _ in ROWS]
    assert [TASK.gold(example) for example in examples] == [(label,) for _, label in ROWS]
    assert TASK.labels(map(TASK.gold, examples)) == ("food", "travel")


def test_scores_are_1_for_gold_and_lower_for_anything_else(examples: list[Example]) -> None:
    gold = [TASK.gold(example) for example in examples]
    assert {name: score.value for name, score in TASK.scores(gold, gold).items()} == {
        "accuracy": 1,
        "rarest": 1,
    }
    wrong = [("travel",), ("food",), ("food",)]
    assert {name: score.value for name, score in TASK.scores(gold, wrong).items()} == {
        "accuracy": 1 / 3,
        "rarest": 0,
    }


def test_every_metric_has_a_score(examples: list[Example]) -> None:
    gold = [TASK.gold(example) for example in examples]
    assert TASK.scores(gold, gold).keys() == {metric.name for metric in TASK.metrics}


def test_its_study_has_the_task() -> None:
    assert my_task().tasks.keys() == {TASK.name}
