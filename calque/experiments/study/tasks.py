"""The tasks in a study: fine-tuning, examples, and model-free baselines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, Floor
from calque.analysis.tasks.catalogue import TASKS, floors, spelling
from calque.analysis.tasks.catalogue import task as find_task
from calque.analysis.tasks.task import Split, Task, check
from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.errors import unknown
from calque.derive.files import making
from calque.derive.languages import SOURCE, Languages, NamePair
from calque.derive.readers.conllu import WORDS
from calque.derive.source import SPLITS
from calque.derive.sources.files import TAGGED, TaskFiles
from calque.derive.task_data import (
    FORMAT,
    KIND,
    TaskFolder,
    derive_task,
    natural_task_fingerprint,
    task_data_fingerprint,
    write_natural_task,
)
from calque.derive.transform import Transform
from calque.experiments.run.places import CACHE, name_mistakes
from calque.experiments.run.step import Machine, Step

RESERVED = (SOURCE, *SPLITS)  # names that languages cannot have, because files and report rows use them
Splits = Iterator[tuple[str, str, Task, tuple[Path, ...]]]
"""For each split and language, the task with the language's scoring rules, and the files with examples."""


def language_mistakes(key: str, names: Iterable[str]) -> list[str]:
    """Return the errors in names of languages, which become parts of folder and file names."""
    return name_mistakes(key, list(names), least=0, taken=RESERVED)


@dataclass(frozen=True)
class CrossLingualTask:
    """A task learnt in one language and tested in it and in others. Examples in derived languages are derived
    from the source's examples. In natural languages, they come from `files` for the training language and
    from `tests` for the others."""

    finetune: FinetuneConfig
    files: TaskFiles | None = None
    tests: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)

    def mistakes(self, name: str) -> list[str]:
        wrong = [f"finetune.{mistake}" for mistake in self.finetune.mistakes()]
        wrong += language_mistakes("tests", self.tests)
        if self.files is None:
            return [*wrong, "tests applies only to tasks with files"] if self.tests else wrong
        if not self.tests or not all(self.tests.values()):
            wrong.append("tests: expected at least one other language, each with at least one file")
        if not (self.files.dev or self.files.held_out):
            wrong.append("there is no dev set on which to choose settings: set files.dev or files.held_out")
        units = self.files.units
        if units != WORDS and data_of(name) != TAGGED:
            wrong.append(f"files.units: {units} applies to treebanks, which only {TAGGED} reads")
        return wrong

    def natural_mistakes(self, name: str, source: str) -> Iterator[str]:
        """Yield what is wrong with the task called `name` for natural languages."""
        if name not in TASKS:
            yield f"tasks: {unknown('task', name, TASKS)}"
        if self.files is None:
            yield f"tasks.{name}.files: missing, but examples in natural languages come from files"
        if source in self.tests:
            yield f"tasks.{name}.tests: examples in the source, {source}, belong in files"


def data_of(task: str) -> str:
    """Return the kind of examples that a task reads: for an unknown task, its name."""
    return TASKS[task].data if task in TASKS else task


@dataclass(frozen=True)
class Examples(ABC):
    """The config of the step that writes the examples for the task named `task`."""

    task: str

    def step(self, home: Path) -> Step:
        return Step(self, home / "tasks" / self.task, f"examples of {self.task}", "derive", KIND, FORMAT)

    @abstractmethod
    def write(self, step: Step, machine: Machine) -> None: ...

    @abstractmethod
    def splits(self, of: Task) -> Splits: ...

    def compute(self, step: Step, machine: Machine) -> None:
        self.write(step, machine)
        self.check(step)

    def check(self, step: Step) -> None:
        """Raise BadInput for damaged examples, or for labels or metrics that would make scoring fail."""
        examples, splits = TaskFolder.open(step.folder), self.splits(find_task(self.task))
        train, *others = (Split(examples.path(*name), scoring, files) for *name, scoring, files in splits)
        check(train, (train, *others))


@dataclass(frozen=True)
class DerivedExamples(Examples):
    languages: Any  # DerivedLanguages

    def identity(self) -> str:
        return self._fingerprint(self.languages.transforms)

    def language(self, name: str) -> str:
        """Return a fingerprint of the examples in a single language."""
        return self._fingerprint(self.languages.named(name))

    def _fingerprint(self, transforms: tuple[Transform, ...]) -> str:
        return task_data_fingerprint(self.languages.source, data_of(self.task), transforms)

    def write(self, step: Step, machine: Machine) -> None:
        of, cache = self.languages, step.place.parents[2] / CACHE
        derive_task(of.source, data_of(self.task), of.transforms, step.folder, cache, machine.report)

    def splits(self, of: Task) -> Splits:
        names = [(split, SOURCE) for split in SPLITS]
        names += [(split, name) for split in ("train", "test") for name in self.languages.names]
        return ((*name, of, self.languages.source.files_of(of.data, name[0])) for name in names)


@dataclass(frozen=True)
class NaturalExamples(Examples):
    """Examples, read from `files`, for a task that is learnt in the language `source`."""

    settings: CrossLingualTask
    source: str

    @property
    def files(self) -> TaskFiles:
        assert self.settings.files
        return self.settings.files

    def identity(self) -> str:
        return natural_task_fingerprint(data_of(self.task), self.files, self.settings.tests, self.source)

    def write(self, step: Step, machine: Machine) -> None:
        write_natural_task(data_of(self.task), self.files, self.settings.tests, step.folder, self.source)

    def splits(self, of: Task) -> Splits:
        yield from ((split, SOURCE, of, self.files.of_split(split)) for split in SPLITS)
        for name, paths in self.settings.tests.items():
            yield "test", name, of.in_language(name), paths


@dataclass(frozen=True)
class Floors:
    """The scores of model-free baselines on one task, for pairs (training language, test language). Words are
    compared by their ids in the vocabulary of `languages` or, if there is none, by their spelling. `source`
    is the source's name in records."""

    examples: Step
    pairs: tuple[NamePair, ...]
    languages: Step | None = None
    source: str = SOURCE

    @property
    def task(self) -> Task:
        return find_task(self.examples.config.task)

    def identity(self) -> dict[str, Any]:
        return {
            "examples": self.examples.fingerprint,
            "task": self.task,
            "baselines": self.task.baselines,
            "pairs": self.pairs,
            "languages": self.languages.fingerprint if self.languages else None,
        }

    def step(self, home: Path) -> Step:
        name = self.examples.config.task
        return Step(self, home / "floors" / name, f"floors of {name}", "evaluate", "floors", 2)

    def compute(self, step: Step, machine: Machine) -> None:
        names = dict.fromkeys(chain.from_iterable(self.pairs))
        if self.languages:
            languages = Languages.open(self.languages.folder, [name for name in names if name != SOURCE])
            spell = {name: spelling(languages, name) for name in names}
            tasks = dict.fromkeys(names, self.task)
        else:
            spell = dict.fromkeys(names, str)
            tasks = {name: self.task.in_language(self.named(name)) for name in names}
        report, examples = partial(machine.report, step.title), TaskFolder.open(self.examples.folder)
        rows = floors(examples, tasks, self.pairs, spell, report)
        facts = step.facts | {"made with": machine.world.machine | {"scikit-learn": version("scikit-learn")}}
        with making(step.folder, step.kind, facts) as part:
            json_rows.write(part / FLOORS, rows)
        report(1, 1)

    def named(self, language: str) -> str:
        """Return a language's name in records."""
        return self.source if language == SOURCE else language


def read_floors(step: Step) -> list[Floor]:
    """Read a step's floors, with languages named as in records. Raises BadInput for a damaged file."""
    named = step.config.named
    rows = json_rows.read(step.open().path(FLOORS), Floor)
    return [replace(row, language=named(row.language), learnt=named(row.learnt)) for row in rows]
