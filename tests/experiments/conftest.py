"""A study of a minute: derived, pretrained, evaluated and summarised once for all tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from experiments.names import study
from experiments.override import override
from experiments.places import Places
from experiments.stages import compute, derive
from experiments.study import Study
from experiments.summary import summarise

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


def finished(places: Places, jobs: int, heard: Heard) -> Places:
    """A study from its languages to its report."""
    derive(places, 1, heard)
    compute(places, ["pretrain", "evaluate"], jobs, heard)
    summarise(places)
    return places


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Bits depend on the number of threads."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny() -> Study:
    """The study of a minute."""
    return override(study("pocket"), TINY)


@pytest.fixture(scope="session")
def heard() -> Heard:
    """What `done` reported while it was computed."""
    return Heard()


@pytest.fixture(scope="session")
def done(tiny: Study, heard: Heard, tmp_path_factory: pytest.TempPathFactory) -> Places:
    """All of the study, one cell after the other; not to be changed."""
    return finished(Places(tmp_path_factory.mktemp("done"), tiny), 1, heard)


@pytest.fixture
def derived(done: Places, tmp_path: Path) -> Places:
    """The study with its languages derived and nothing else done, to be changed at will."""
    places = Places(tmp_path / "runs", done.study)
    shutil.copytree(done.data, places.data)
    return places
