"""A study of a minute: derived, pretrained, evaluated and summarised once for all tests."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from experiments.cell import Cell
from experiments.steps.evaluation import Evaluation
from experiments.steps.pretraining import Pretrain
from experiments.steps.task_data import DeriveTask
from experiments.transfer_grid import TransferGrid

from analysis.records.record import Record
from experiments.commands.options import STAGES
from experiments.names import study
from experiments.override import override
from experiments.progress import Report, silent
from experiments.schedule import compute
from experiments.step import Stage

TINY = [
    "source.size=600",
    *(f"source.{task}.{split}=40" for task in ("pos", "ner", "nli") for split in ("train", "dev", "test")),
    "vocabulary=600",
    "transforms=trans.inv",
    "objectives=MLM,ALIGN-MLM",
    "model.layers=1",
    "model.heads=2",
    "model.hidden=16",
    "model.ffn=32",
    "model.length=32",
    "train.steps=12",
    "train.batch=8",
    "train.learning_rate=4e-3",
    "train.warmup=2",
    "train.log_every=4",
    "train.probe_every=4",
    "train.save_every=4",
    "finetune=pos",
    "finetune.pos.epochs=1",
]
"""What makes the pocket study so small, as a person would write it after --set."""


class Heard:
    """A report that remembers what was finished."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.finished: list[str] = []

    def __call__(self, what: str, done: int, of: int) -> None:
        if what not in self.begun:
            self.begun.append(what)
        if done >= of:
            self.finished.append(what)


@dataclass(frozen=True)
class Done:
    """A transfer grid below a root, with its steps at hand."""

    root: Path
    study: TransferGrid

    @property
    def home(self) -> Path:
        return self.study.home(self.root)

    @property
    def data(self) -> Path:
        return self.study.languages(self.root).folder

    @property
    def examples(self) -> list[DeriveTask]:
        return self.study.examples(self.root)

    @property
    def report(self) -> Path:
        return self.study.report(self.root, changed=False)

    def step(self, cell: Cell) -> Pretrain:
        return self.study.pretraining(self.study.languages(self.root), cell)

    def run(self, cell: Cell) -> Path:
        return self.step(cell).folder

    def evaluations(self, cell: Cell) -> dict[str, Evaluation]:
        """By measure."""
        return {one.measure: one for one in self.study.evaluations(self.step(cell), self.examples)}

    def records(self, cell: Cell) -> list[Record]:
        return [record for one in self.evaluations(cell).values() for record in one.read()]

    def compute(self, *stages: Stage, jobs: int = 1, report: Report = silent, allow_change: bool = False) -> None:
        steps = self.study.in_stages(self.root, stages or STAGES)
        compute(steps, self.home, jobs, report, allow_change)


def finished(done: Done, jobs: int, heard: Heard) -> Done:
    """A study from its languages to its report."""
    done.compute(jobs=jobs, report=heard)
    done.study.summarise(done.root, done.report)
    return done


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Bits depend on the number of threads."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny() -> TransferGrid:
    """The study of a minute."""
    return override(study("pocket"), TINY)


@pytest.fixture(scope="session")
def heard() -> Heard:
    """What `done` reported while it was computed."""
    return Heard()


@pytest.fixture(scope="session")
def done(tiny: TransferGrid, heard: Heard, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All of the study, one cell after the other; not to be changed."""
    return finished(Done(tmp_path_factory.mktemp("done"), tiny), 1, heard)


@pytest.fixture
def derived(done: Done, tmp_path: Path) -> Done:
    """The study with its languages derived and nothing else done, to be changed at will."""
    places = Done(tmp_path / "runs", done.study)
    shutil.copytree(done.data, places.data)
    for theirs, ours in zip(done.examples, places.examples, strict=True):
        shutil.copytree(theirs.folder, ours.folder)
    return places
