"""Transfer: what a pretrained model learns from one language and shows in the other.

<out>/<task>-<fingerprint>.jsonl   the records of a finished task
<out>/records.jsonl                those of all tasks, and their Deltas
<out>/manifest.json                last: the fingerprint, and where it ran
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from analysis.records import record as records
from analysis.records.record import Record
from analysis.tasks.finetune import Classifier, FinetuneConfig, check_types, finetune, longest_row, predict
from analysis.tasks.rows import Encoded, Language, encode_split
from analysis.tasks.task import Score, Split, Task, read_split
from derive.errors import BadInput
from derive.files import MANIFEST, fingerprint, sha256, whole_file, write_json
from derive.vocabulary import Vocabulary
from pretrain.data import DERIVED, SOURCE

Progress = Callable[[str, int, int], None]
"""Told what is being done ("pos SUP"), the step and the number of steps."""


@dataclass(frozen=True)
class PretrainedRun:
    """A pretrained run and what its records say about it.

    `folder` holds `checkpoint/`, and its name is the run's; `seed` is that of the run and of its fine-tuning too.
    """

    folder: Path
    study: str
    transform: str
    objective: str
    seed: int
    step: int = 0

    @property
    def checkpoint(self) -> Path:
        """The folder that transformers can load."""
        return self.folder / "checkpoint"

    def record(self, measure: str, task: str, metric: str, score: Score) -> Record:
        """A number of this run."""
        return Record(
            study=self.study,
            run=self.folder.name,
            transform=self.transform,
            objective=self.objective,
            seed=self.seed,
            measure=measure,
            task=task,
            metric=metric,
            value=score.value,
            count=score.count,
            step=self.step,
        )


def evaluate(
    run: PretrainedRun,
    data: Path,
    tasks: Sequence[Task],
    configs: Mapping[str, FinetuneConfig],
    out: Path,
    device: torch.device | None = None,
    progress: Progress = lambda what, step, steps: None,
) -> list[Record]:
    """Fine-tune and score every task; `configs` has one entry a task's name. What is finished is not run again.

    Measures are those of `evaluate_task`, and DELTA of `deltas`.

    Raises:
        BadInput: the checkpoint or the data are missing, do not fit each other, or are damaged.
    """
    if lacking := [task.name for task in tasks if task.name not in configs]:
        raise BadInput(f"no fine-tuning values for {', '.join(lacking)}; there are some for {', '.join(configs)}")
    prints = {task.name: _fingerprint(run, data, task, configs[task.name]) for task in tasks}
    whole = fingerprint(prints)
    manifest, table = out / MANIFEST, out / "records.jsonl"
    if manifest.exists() and json.loads(manifest.read_text(encoding="utf-8")).get("fingerprint") == whole:
        return records.read(table)
    device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows: list[Record] = []
    for task in tasks:
        path = out / f"{task.name}-{prints[task.name]}.jsonl"
        if not path.exists():
            _write(path, evaluate_task(run, data, task, configs[task.name], device, progress))
        rows += records.read(path)
    rows += deltas(rows)
    _write(table, rows)
    made_with = {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": device.type}
    write_json(manifest, {"fingerprint": whole, "tasks": prints, "made with": made_with})
    return rows


def evaluate_task(
    run: PretrainedRun,
    data: Path,
    task: Task,
    config: FinetuneConfig,
    device: torch.device,
    progress: Progress = lambda what, step, steps: None,
) -> list[Record]:
    """Every metric of one task on one pair, each model as it is after its last epoch.

    SRC, ZS and DEV are one model, fine-tuned on the source and scored on the source's test set, the derived
    language's, and the source's dev set, which nothing here is selected on: choose learning rates by it. SUP is
    fine-tuned and scored on the derived language. CUT is the share of examples, a split of the source as metric,
    that did not fit into a row (`analysis.tasks.rows.Encoded`); it is the derived language's too.
    """
    sets = {(split, derived): read_split(path, task) for (split, derived), path in _paths(run, data, task).items()}
    for split in sets.values():
        _check_scorable(task, split)
    vocabulary = Vocabulary.load(data / "vocabulary")
    image = np.load(data / run.transform / "image.npy", allow_pickle=False)
    if len(image) != vocabulary.size:
        raise BadInput(f"{len(image)} types have an image, the vocabulary has {vocabulary.size}", data / run.transform)
    check_types(run.checkpoint, int(image.max()))
    languages = (
        Language(vocabulary.encode, np.arange(vocabulary.size), SOURCE),
        Language(vocabulary.encode, image, DERIVED),
    )
    labels = task.labels(sets["train", False].gold)
    length = longest_row(run.checkpoint, config)
    encoded = {
        key: encode_split(split, labels, task.per_word, languages[key[1]], length) for key, split in sets.items()
    }
    rows: list[Record] = []

    def train(derived: bool, what: str) -> Classifier:
        tell = lambda step, steps: progress(f"{task.name} {what}", step, steps)  # noqa: E731
        return finetune(run.checkpoint, encoded["train", derived], len(labels), config, run.seed, device, tell)

    def score(model: Classifier, split: str, derived: bool, measure: str) -> None:
        predicted = [[labels[i] for i in row] for row in predict(model, encoded[split, derived])]
        scores = task.scores(sets[split, derived].gold, predicted)
        rows.extend(run.record(measure, task.name, metric, value) for metric, value in scores.items())

    model = train(False, "SRC")
    score(model, "test", False, "SRC")
    score(model, "test", True, "ZS")
    score(model, "dev", False, "DEV")
    score(train(True, "SUP"), "test", True, "SUP")
    return rows + [run.record("CUT", task.name, split, _cut(encoded[split, False])) for split in _SPLITS]


def deltas(rows: Iterable[Record]) -> list[Record]:
    """Delta = SUP - ZS of every metric that has both, with the count of SUP; small is good transfer.

    Raises:
        ValueError: one number stands there twice.
    """
    numbers: dict[tuple[str, Record], Record] = {}
    for row in rows:
        # What SUP and ZS have in common is everything but the measure and the number.
        key = (row.measure, replace(row, measure="", value=0.0, count=0))
        if row.measure in ("SUP", "ZS") and key in numbers:
            raise ValueError(f"two records of one number: {row}")
        numbers[key] = row
    return [
        replace(sup, measure="DELTA", value=sup.value - numbers["ZS", common].value)
        for (measure, common), sup in numbers.items()
        if measure == "SUP" and ("ZS", common) in numbers
    ]


_SPLITS = ("train", "dev", "test")


def _paths(run: PretrainedRun, data: Path, task: Task) -> dict[tuple[str, bool], Path]:
    """The file of (split, whether of the derived language); the derived dev set is not used."""
    folder = data / "tasks" / task.name
    files = {(split, False): folder / f"{split}.jsonl" for split in _SPLITS}
    return files | {(split, True): folder / f"{split}.{run.transform}.jsonl" for split in ("train", "test")}


def _fingerprint(run: PretrainedRun, data: Path, task: Task, config: FinetuneConfig) -> str:
    """Changes with anything that a task's numbers depend on, but for the machine."""
    files = [
        run.checkpoint / "config.json",
        run.checkpoint / "model.safetensors",
        data / "vocabulary" / "tokenizer.json",
        data / run.transform / "image.npy",
        *_paths(run, data, task).values(),
    ]
    if missing := [path for path in files if not path.is_file()]:
        raise BadInput("no such file; pretrain and derive first", missing[0])
    facts = replace(run, folder=Path(run.folder.name))  # the same run in another place is the same run
    return fingerprint(facts, task, config, [sha256(path) for path in files])


def _check_scorable(task: Task, split: Split) -> None:
    """Find a metric that is not defined on a set before hours of training, not after."""
    try:
        task.scores(split.gold, split.gold)
    except ValueError as error:
        raise BadInput(str(error), split.path) from error


def _cut(encoded: Encoded) -> Score:
    return Score(encoded.cut / len(encoded.sizes), len(encoded.sizes))


def _write(path: Path, rows: Iterable[Record]) -> None:
    with whole_file(path) as part:
        records.append(part, rows)
