"""Tests that the task reads its table and scores correct and incorrect answers."""

from collections import Counter
from pathlib import Path

from calque.derive.sources.files import READERS
from calque.experiments.templates.my_task import MyTask, my_task

TASK = MyTask()
ROWS = {"the soup is warm .": "food", "the cook ate two apples .": "food", "the train is late .": "travel"}


def test_it_reads_the_texts_and_labels_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text(
        "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in ROWS.items()), encoding="utf-8"
    )
    examples = list(READERS[TASK.data](table, Counter()))
    assert [" ".join(example.texts[0][0].words) for example in examples] == [*ROWS]
    assert [TASK.gold(example) for example in examples] == [(label,) for label in ROWS.values()]


def test_scores_are_1_for_gold_and_lower_for_anything_else() -> None:
    gold = [("food",), ("food",), ("travel",)]
    for predicted, right in ((gold, True), (gold[::-1], False)):
        scores = TASK.scores(gold, predicted)
        assert scores.keys() == {metric.name for metric in TASK.metrics}
        assert all((score.value == 1) is right for score in scores.values())


def test_its_study_has_the_task() -> None:
    assert my_task().tasks.keys() == {TASK.name}
