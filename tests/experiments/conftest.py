from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from calque.analysis.tasks.catalogue import PRIMARY, PRINTED, TASKS
from calque.derive.fingerprint import sha256
from calque.derive.transforms import TRANSFORMS
from calque.derive.workers import silent
from calque.experiments.cli import app
from calque.experiments.report.report import summarise
from calque.experiments.run.own_modules import own_modules
from calque.experiments.run.schedule import compute
from calque.experiments.session import STAGES, StudySession
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from calque.experiments.study import Study
from calque.experiments.study.measures import read_measured
from calque.pretrain.objectives import OBJECTIVES
from calque.pretrain.run import CHECKPOINT

ROOT = Path(__file__).parents[2]
TINY = """seeds=0 source.size=600 vocabulary=600 transforms=trans.inv objectives=MLM,ALIGN-MLM
    model.layers=1 model.heads=2 model.hidden=16 model.ffn=32 model.length=32
    train.steps=12 train.batch=8 train.learning_rate=4e-3 train.warmup=2 train.log_every=4 train.probe_every=4
    train.save_every=4 tasks=pos tasks.pos.finetune.epochs=1""".split()
TINY += [f"source.{task}.{split}=40" for task in ("pos", "ner") for split in ("train", "dev", "test")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for files, whose imports are forgotten afterwards; commands run in a different folder."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    before = set(sys.modules)
    lists, named = (sys.path, TRANSFORMS, OBJECTIVES), (TASKS, PRIMARY, PRINTED)
    kept = [[*each] for each in lists], [{**each} for each in named]
    yield tmp_path / "mine"
    for each, old in zip(lists, kept[0], strict=True):
        each[:] = old
    for names, values in zip(named, kept[1], strict=True):
        names.clear()
        names.update(values)
    own_modules.clear()
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def calque(*words):
    """Run a command in this process; return its exit code, standard output and standard error."""
    ran = CliRunner().invoke(app, list(map(str, words)))
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


@contextmanager
def started(*words, **environment):
    """A command in processes of its own, which are killed in the end."""
    running = subprocess.Popen(
        [sys.executable, "-m", "calque", *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with running:
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def refused(*words):
    """Run a command that must fail with one line, and return the line."""
    code, out, err = calque(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith("calque: error: "), err
    return err


def sets(*settings):
    """Settings as options of a command."""
    return [word for setting in settings for word in ("--set", setting)]


SETTINGS = sets(*TINY)


class Heard:
    def __init__(self):
        self.begun = []
        self.finished = []

    def __call__(self, what, done, of):
        if what not in self.begun:
            self.begun.append(what)
        if done >= of and what not in self.finished:
            self.finished.append(what)


@dataclass(frozen=True)
class Done:
    """A study below a root, with its models and steps, and the progress that `finished` reported."""

    root: Path
    study: Study
    heard: Heard = field(default_factory=Heard, compare=False)

    def changed(self, *settings):
        return Done(self.root, override(self.study, settings))

    @property
    def session(self):
        return StudySession(self.study, self.root)

    @property
    def home(self):
        return self.session.home

    @property
    def languages(self):
        return self.study.data(self.root, self.study.seeds[0]).text

    @property
    def data(self):
        return self.languages.folder

    @property
    def examples(self):
        return self.study.data(self.root).examples

    @property
    def report(self):
        return self.session.report

    def models(self):
        return self.study.models(self.root)

    def model(self, objective, group="", seed=0):
        """The model of an objective and a group of languages, by default the first."""
        group = group or self.study.data(self.root, seed).groups[0].name
        above = self.home / group / objective
        (found,) = [
            model for model in self.models() if model.folder.parent == above and model.run.seed == seed
        ]
        return found

    def starts(self):
        """The steps that train starting models which are not models of the study."""
        folders = {model.folder for model in self.models()}
        return [step for step in self.study.trained(self.root) if step.folder not in folders]

    def measures(self, model):
        return {step.config.measure.name: step for step in self.study.measuring(model)}

    def records(self, model):
        return [record for step in self.measures(model).values() for record in read_measured(step)[1]]

    def compute(self, *stages, jobs=1, report=silent, allow_change=False):
        steps = [step for step in self.study.steps(self.root) if step.stage in (stages or STAGES)]
        compute(steps, self.home, jobs, report, allow_change)

    def finish(self, jobs=1, report=silent):
        self.compute(jobs=jobs, report=report)
        return summarise(self.session.variants, self.root, self.report)


def finished(root, study, jobs=1):
    """Compute and summarise a study, and check that nothing is computed twice."""
    done, again = Done(root, study), Heard()
    done.finish(jobs, done.heard)
    done.compute(jobs=jobs, report=again)
    assert again.begun == []
    return done


def weights(step):
    return sha256(step.folder / CHECKPOINT / "model.safetensors")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Bits depend on the number of threads."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny():
    return override(named_study("pocket"), TINY)


@pytest.fixture(scope="session")
def done(tiny, tmp_path_factory):
    """The whole study, computed in one process; not to be changed."""
    return finished(tmp_path_factory.mktemp("done"), tiny)


@pytest.fixture
def derived(done, tmp_path):
    """The study after the derive stage, which a test may change."""
    places = Done(tmp_path / "runs", done.study)
    shutil.copytree(done.data, places.data)
    for task, step in done.examples.items():
        shutil.copytree(step.folder, places.examples[task].folder)
    return places
