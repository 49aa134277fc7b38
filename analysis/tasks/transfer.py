"""Transfer: fine-tuning a pretrained model on one language and scoring it on another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from analysis.records.record import IN_SOURCE, SWITCHED, TRANSLATED, Record
from analysis.tasks.diagnostics import by_diagnostic
from analysis.tasks.finetune import FinetuneConfig, Finetuned, check_types, finetune, longest_row
from analysis.tasks.rows import Reader
from analysis.tasks.score import Score
from analysis.tasks.split import Encoded, Split, check
from analysis.tasks.task import Task
from analysis.tasks.translated import check_translations, switched, together
from derive.language import SOURCE
from derive.languages import Languages
from derive.source import SPLITS
from derive.task_data import TaskFolder
from pretrain.run import CHECKPOINT

COMPARED = ("SUP", "ZS", TRANSLATED, SWITCHED)
"""The measures that models are compared by: their records say how each test item was answered."""
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
            items=score.items if measure in COMPARED else None,
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
    trial = _Trial(run, languages, examples, task, config, device, progress, (SOURCE, run.transform))
    model = trial.train(SOURCE, "SRC")
    scored = [
        ("SRC", trial.score(model, "test", SOURCE)),
        ("ZS", trial.score(model, "test", run.transform)),
        ("DEV", trial.score(model, "dev", SOURCE)),
        ("SUP", trial.score(trial.train(run.transform, "SUP"), "test", run.transform)),
    ]
    rows = [
        run.record(measure, task.name, metric, score) for measure, scores in scored for metric, score in scores.items()
    ]
    return rows + [run.record("CUT", task.name, "fraction", trial.cut[split, SOURCE], split) for split in SPLITS]


def evaluate_pairs(
    run: PretrainedRun,
    languages: Languages,
    examples: TaskFolder,
    task: Task,
    config: FinetuneConfig,
    pairs: Sequence[tuple[str, str]],
    device: torch.device,
    progress: Progress = lambda what, step, steps: None,
) -> list[Record]:
    """Every metric of one task on ordered pairs of a model's languages, each model as after its last epoch.

    A model is fine-tuned on the first language of each pair, once, and scored on the second's test set: ZS, or SUP
    where both are the same. CUT is that of the sets that were used. The rest is as in `evaluate_task`.

    Raises:
        BadInput: as `evaluate_task`.
    """
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    trial = _Trial(run, languages, examples, task, config, device, progress, names)
    rows: list[Record] = []
    for first in dict.fromkeys(first for first, _ in pairs):
        model = trial.train(first, first)
        for second in (second for other, second in pairs if other == first):
            measure, behind = ("SUP", "") if first == second else ("ZS", "" if first == SOURCE else first)
            for metric, score in trial.score(model, "test", second).items():
                rows.append(replace(run.record(measure, task.name, metric, score), language=second, first=behind))
    cut = ((split, language, score) for (split, language), score in sorted(trial.cut.items()))
    return rows + [
        replace(run.record("CUT", task.name, "fraction", score, split), language=language)
        for split, language, score in cut
    ]


def evaluate_translated(
    run: PretrainedRun,
    languages: Languages,
    examples: TaskFolder,
    task: Task,
    config: FinetuneConfig,
    measure: str,
    device: torch.device,
    progress: Progress = lambda what, step, steps: None,
) -> list[Record]:
    """Every metric of one task after translate-train, on the derived language's test set and on the source's.

    `measure` is TT, fine-tuned on the source's training set and on what was derived from it, or TT-CS: also on the two
    pairs of every example whose texts are of both languages (Pan et al. 2021). The rest is as in `evaluate_task`.

    Raises:
        BadInput: as `evaluate_task`, or the derived training set lacks examples of the source's.
        ValueError: TT-CS of a task whose examples have one text.
    """
    names = (SOURCE, run.transform)
    trial = _Trial(run, languages, examples, task, config, device, progress, names)
    model = trial.train_translated(names, switching=measure == SWITCHED, what=measure)
    return [
        run.record(said, task.name, metric, score)
        for said, language in ((measure, run.transform), (measure + IN_SOURCE, SOURCE))
        for metric, score in trial.score(model, "test", language).items()
    ]


class _Trial:
    """A task on some languages of a model: sets that were found usable together, and what becomes of them."""

    def __init__(
        self,
        run: PretrainedRun,
        languages: Languages,
        examples: TaskFolder,
        task: Task,
        config: FinetuneConfig,
        device: torch.device,
        progress: Progress,
        names: Sequence[str],
    ) -> None:
        self.run, self.task, self.config, self.device, self.progress = run, task, config, device, progress
        self.readers = {name: Reader.of(languages, name) for name in names}
        check_types(run.checkpoint, max(int(reader.table.max()) for reader in self.readers.values()))
        self.sets = {key: Split(path, task) for key, path in _paths(examples, names).items()}
        self.labels = check(self.sets["train", SOURCE], self.sets.values())
        self.length = longest_row(run.checkpoint, config)
        self.cut: dict[tuple[str, str], Score] = {}

    def train(self, language: str, what: str) -> Finetuned:
        """The model fine-tuned on a language."""
        return self._train(self._encode("train", language), what)

    def train_translated(self, names: tuple[str, str], switching: bool, what: str) -> Finetuned:
        """The model fine-tuned on two languages at once, and, `switching`, on pairs with a text of each."""
        first, second = (self.sets["train", name] for name in names)
        check_translations(first, second)
        parts = [self._encode("train", name) for name in names]
        if switching:
            if not self.task.of_pairs:
                raise ValueError(f"{self.task.name} has one text: there is nothing to switch")
            readers = self.readers[names[0]], self.readers[names[1]]
            parts.append(switched(first, second, self.labels, readers, self.length))
        return self._train(together(*parts), what)

    def _train(self, encoded: Encoded, what: str) -> Finetuned:
        tell = lambda step, steps: self.progress(f"{self.task.name} {what}", step, steps)  # noqa: E731
        checkpoint, labels = self.run.checkpoint, len(self.labels)
        return finetune(checkpoint, encoded, self.task.head, labels, self.config, self.run.seed, self.device, tell)

    def score(self, model: Finetuned, split: str, language: str) -> dict[str, Score]:
        """Every metric of a fine-tuned model on a set, the primary one also of what its examples try."""
        encoded, examples = self._encode(split, language), self.sets[split, language]
        gold, said = examples.gold, examples.decode(encoded, model.answers(encoded), self.labels)
        return self.task.scores(gold, said) | by_diagnostic(self.task, gold, said, examples.diagnostics)

    def _encode(self, split: str, language: str) -> Encoded:
        encoded = self.sets[split, language].encode(self.labels, self.readers[language], self.length)
        self.cut[split, language] = Score.over([encoded.cut], [len(encoded.counts)], len(encoded.counts))
        return encoded


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


def _paths(examples: TaskFolder, names: Sequence[str]) -> dict[tuple[str, str], Path]:
    """The file of a (split, language); the derived dev sets are not used."""
    files = {(split, SOURCE): examples.path(split) for split in SPLITS}
    others = [name for name in names if name != SOURCE]
    return files | {(split, name): examples.path(split, name) for split in ("train", "test") for name in others}
