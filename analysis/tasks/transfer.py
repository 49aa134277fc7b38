"""Transfer: fine-tuning a pretrained model on one language and scoring it on another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from analysis.records.record import Record
from analysis.tasks.finetune import FinetuneConfig, Finetuned, check_types, finetune, longest_row
from analysis.tasks.rows import Reader
from analysis.tasks.score import Score
from analysis.tasks.split import Encoded, Split, check
from analysis.tasks.task import Task
from derive.languages import SOURCE, Languages
from derive.source import SPLITS
from derive.task_data import TaskFolder
from pretrain.run import CHECKPOINT

Progress = Callable[[str, int, int], None]
"""Called with a title ("pos SUP"), the step and the number of steps."""


@dataclass(frozen=True)
class PretrainedRun:
    """A pretrained run and what its records say about it.

    `folder` holds `checkpoint/`, and its name is the run's; `seed` is that of the run and of its fine-tuning too.
    """

    folder: Path
    transform: str
    seed: int
    step: int = 0

    @property
    def checkpoint(self) -> Path:
        """The folder that transformers can load."""
        return self.folder / CHECKPOINT

    def record(self, measure: str, task: str, metric: str, score: Score, split: str = "") -> Record:
        """A number of this run."""
        return Record(
            run=self.folder.name,
            measure=measure,
            metric=metric,
            value=score.value,
            count=score.count,
            language=self.transform,
            task=task,
            split=split,
            step=self.step,
            items=score.items if measure in ("SUP", "ZS") else None,  # what models are compared by
        )


def evaluate_task(
    run: PretrainedRun,
    languages: Languages,
    examples: TaskFolder,
    task: Task,
    config: FinetuneConfig,
    device: torch.device,
    progress: Progress = lambda what, step, steps: None,
) -> list[Record]:
    """Every metric of one task on the source and the run's derived language, each model as after its last epoch.

    `languages` are those that the model knows, `examples` those of the task in both.

    SRC, ZS and DEV are one model, fine-tuned on the source and scored on the source's test set, the derived
    language's, and the source's dev set, which nothing here is selected on: choose learning rates by it. SUP is
    fine-tuned and scored on the derived language. CUT is the fraction of the examples of a split of the source
    that did not fit into a row (`analysis.tasks.split.Encoded`); it is the derived language's too. A set is held in
    memory as rows, and only while it is needed.

    Raises:
        BadInput: the checkpoint or the data are missing, do not fit each other, or are damaged.
    """
    readers = {name: Reader.of(languages, name) for name in (SOURCE, run.transform)}
    check_types(run.checkpoint, max(int(reader.table.max()) for reader in readers.values()))
    sets = {key: Split(path, task) for key, path in _paths(run, examples).items()}
    labels = check(sets["train", SOURCE], sets.values())
    length = longest_row(run.checkpoint, config)
    rows: list[Record] = []
    cut: dict[str, Score] = {}

    def encode(split: str, language: str) -> Encoded:
        encoded = sets[split, language].encode(labels, readers[language], length)
        if language == SOURCE:
            cut[split] = Score.over([encoded.cut], [len(encoded.counts)], len(encoded.counts))
        return encoded

    def train(language: str, what: str) -> Finetuned:
        tell = lambda step, steps: progress(f"{task.name} {what}", step, steps)  # noqa: E731
        encoded = encode("train", language)
        return finetune(run.checkpoint, encoded, task.head, len(labels), config, run.seed, device, tell)

    def score(model: Finetuned, split: str, language: str, measure: str) -> None:
        encoded, examples = encode(split, language), sets[split, language]
        said = examples.decode(encoded, model.answers(encoded), labels)
        scores = task.scores(examples.gold, said)
        rows.extend(run.record(measure, task.name, metric, value) for metric, value in scores.items())

    model = train(SOURCE, "SRC")
    score(model, "test", SOURCE, "SRC")
    score(model, "test", run.transform, "ZS")
    score(model, "dev", SOURCE, "DEV")
    score(train(run.transform, "SUP"), "test", run.transform, "SUP")
    return rows + [run.record("CUT", task.name, "fraction", cut[split], split) for split in SPLITS]


def deltas(rows: Iterable[Record]) -> list[Record]:
    """Delta = SUP - ZS of every metric that has both, with the count of SUP; small is good transfer.

    Raises:
        ValueError: one number stands there twice.
    """
    numbers: dict[tuple[str, Record], Record] = {}
    for row in rows:
        # What SUP and ZS have in common is everything but the measure and the number.
        key = (row.measure, replace(row, measure="", value=0.0, count=0, items=None))
        if row.measure in ("SUP", "ZS") and key in numbers:
            raise ValueError(f"two records of one number: {row}")
        numbers[key] = row
    return [
        replace(sup, measure="DELTA", value=sup.value - numbers["ZS", common].value, items=None)
        for (measure, common), sup in numbers.items()
        if measure == "SUP" and ("ZS", common) in numbers
    ]


def _paths(run: PretrainedRun, examples: TaskFolder) -> dict[tuple[str, str], Path]:
    """The file of a (split, language); the derived dev set is not used."""
    files = {(split, SOURCE): examples.path(split) for split in SPLITS}
    return files | {(split, run.transform): examples.path(split, run.transform) for split in ("train", "test")}
