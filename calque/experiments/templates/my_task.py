"""My own task, and a study that uses it.

calque run my_task.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calque.analysis.tasks.catalogue import TextLabels
from calque.analysis.tasks.score import ACCURACY, Answer, Metric, Score, accuracy
from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.sources.files import Files, TaskFiles
from calque.experiments.studies.pocket import pocket
from calque.experiments.study import Study
from calque.experiments.study.tasks import CrossLingualTask

HERE = Path(__file__).parent


@dataclass(frozen=True)
class MyTask(TextLabels):
    """The label of a text, scored by accuracy and by the recall of the rarest label."""

    name = "my_task"  # in commands and folders
    title = "My task"  # in tables
    # Models are compared by the first metric.
    metrics = (ACCURACY, Metric("rarest", "recall of the rarest label"))

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        labels = [label for (label,) in gold]
        rarest = min(sorted(set(labels)), key=labels.count)
        rare = [answer == (rarest,) for answer in gold]
        correct = [is_rare and p == g for is_rare, p, g in zip(rare, predicted, gold, strict=True)]
        recall = Score.over(correct, rare)  # sum of `correct` / sum of `rare`
        return {"accuracy": accuracy(gold, predicted), "rarest": recall}


def my_task() -> Study:
    """The pocket study on my own text, with labels from my own table."""
    # text.txt has one paragraph per line; my_task.tsv has the columns `text` and `label`, named in its first
    # line and separated by tabs. 200 of its texts are held out for testing.
    source = Files(
        text=(HERE / "text.txt",), text_labels=TaskFiles(train=(HERE / "my_task.tsv",), held_out=200)
    )
    task = CrossLingualTask(FinetuneConfig(learning_rate=1e-3, head_rate=10, epochs=6, dropout=0.0))
    return pocket().changed(name="my_task", source=source, vocabulary=2_000, tasks={"my_task": task})
