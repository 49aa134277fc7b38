"""The tasks in a study: fine-tuning, examples, and model-free baselines."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, Floor
from calque.analysis.tasks.catalog import TASKS, floors, spelling, task
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.analysis.tasks.task import Split, Task, check
from calque.derive.artefact import making
from calque.derive.errors import shown, unknown
from calque.derive.language import SOURCE
from calque.derive.languages import Languages, NamePair
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
from calque.experiments.run.places import CACHE
from calque.experiments.run.step import Machine, Step, cached_method

RESERVED = (SOURCE, *SPLITS)  # names that languages cannot have, because files and report rows use them
LONGEST = 32  # maximum number of letters in a language's name


def language_mistakes(key: str, name: str) -> list[str]:
    """Return the error in a language's name, which becomes part of folder and file names."""
    letters = r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)*"
    if len(name) <= LONGEST and name not in RESERVED and re.fullmatch(letters, name):
        return []
    expected = f"letters, digits and dashes, as in zh-tw, but not {', '.join(RESERVED)}"
    return [f"{key}: {shown(name)} cannot be a language's name; expected {expected}"]


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
        if self.files is None:
            return [*wrong, "tests applies only to tasks with files"] if self.tests else wrong
        for language, paths in self.tests.items():
            wrong += language_mistakes("tests", language)
            wrong += [] if paths else [f"tests.{language}: expected at least one file"]
        if not self.tests:
            wrong.append("tests: expected at least one other language")
        if not (self.files.dev or self.files.held_out):
            wrong.append("there is no dev set on which to choose settings: set files.dev or files.held_out")
        units = self.files.units
        if units != WORDS and name in TASKS and TASKS[name].data != TAGGED:
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


def with_siblings(tasks: Mapping[str, CrossLingualTask]) -> dict[str, CrossLingualTask]:
    """Add the catalog's other tasks, each configured like the given task that uses the same data. If there is
    no such task, the new task is configured like the first one, or omitted if any given task uses files."""
    by_data = {TASKS[name].data: tasks[name] for name in reversed(list(tasks)) if name in TASKS}
    other = None if any(its.files for its in tasks.values()) else next(iter(tasks.values()), None)
    siblings = {name: by_data.get(of.data, other) for name, of in TASKS.items()}
    return {**{name: its for name, its in siblings.items() if its}, **tasks}


@dataclass(frozen=True)
class Examples(ABC):
    task: str

    def step(self, home: Path) -> Step:
        place = home / "tasks" / self.task
        return Step(self, place, f"examples of {self.task}", "derive", KIND, FORMAT)

    def compute(self, step: Step, machine: Machine) -> None:
        self.write(step, machine)
        self.check(step.folder)

    @abstractmethod
    def write(self, step: Step, machine: Machine) -> None: ...

    def check(self, folder: Path) -> None:
        """Raise BadInput for damaged examples, or for labels or metrics that would make scoring fail."""
        sets = self.splits(TaskFolder.open(folder), task(self.task))
        check(sets["train", SOURCE], sets.values())

    @abstractmethod
    def splits(self, examples: TaskFolder, of: Task) -> dict[tuple[str, str], Any]:
        """Open the examples for each split and language."""


@dataclass(frozen=True)
class DerivedExamples(Examples):
    languages: Any  # DerivedLanguages

    def identity(self) -> str:
        return self._fingerprint(self.languages.transforms)

    def language(self, name: str) -> str:
        """Return a fingerprint of the examples in a single language."""
        return self._fingerprint(tuple(each for each in self.languages.transforms if each.name == name))

    def write(self, step: Step, machine: Machine) -> None:
        of, data, cache = self.languages, task(self.task).data, step.place.parents[2] / CACHE
        derive_task(of.source, data, of.transforms, step.folder, cache, machine.report)

    def splits(self, examples: TaskFolder, of: Task) -> dict[tuple[str, str], Any]:
        files = [(split, SOURCE) for split in SPLITS]
        files += [(split, name) for split in ("train", "test") for name in self.languages.names]
        source = self.languages.source
        return {file: Split(examples.path(*file), of, source.files_of(of.data, file[0])) for file in files}

    def _fingerprint(self, transforms: tuple[Transform, ...]) -> str:
        return task_data_fingerprint(self._examples, task(self.task).data, transforms)

    @cached_method
    def _examples(self, task: str, trees: bool) -> str:
        return self.languages.source.task_identity(task, trees)


@dataclass(frozen=True)
class NaturalExamples(Examples):
    """Examples, read from files, for a task that is learnt in the language `source`."""

    settings: CrossLingualTask
    source: str

    @property
    def files(self) -> TaskFiles:
        assert self.settings.files
        return self.settings.files

    def identity(self) -> str:
        data, tests = task(self.task).data, self.settings.tests
        return natural_task_fingerprint(data, self.files, tests, self.source)

    def write(self, step: Step, machine: Machine) -> None:
        data, tests = task(self.task).data, self.settings.tests
        write_natural_task(data, self.files, tests, step.folder, self.source)

    def splits(self, examples: TaskFolder, of: Task) -> dict[tuple[str, str], Any]:
        sets = {(part, SOURCE): Split(examples.path(part), of, self.files.of_split(part)) for part in SPLITS}
        for name, paths in self.settings.tests.items():
            sets["test", name] = Split(examples.path("test", name), of.in_language(name), paths)
        return sets


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
        return task(self.examples.config.task)

    def identity(self) -> dict[str, Any]:
        return {
            "examples": self.examples.fingerprint,
            "task": self.task,
            "baselines": self.task.baselines,
            "pairs": self.pairs,
            "languages": self.languages.fingerprint if self.languages else None,
        }

    def step(self, home: Path) -> Step:
        name = self.task.name
        return Step(self, home / "floors" / name, f"floors of {name}", "evaluate", "floors", 2)

    def compute(self, step: Step, machine: Machine) -> None:
        from sklearn import __version__

        names, scored = dict.fromkeys(chain.from_iterable(self.pairs)), None
        if self.languages:
            languages = Languages.open(self.languages.folder, [name for name in names if name != SOURCE])
            spell = {name: spelling(languages, name) for name in names}
        else:
            spell, scored = dict.fromkeys(names, str), self._in_language
        examples = TaskFolder.open(self.examples.folder)
        rows = floors(examples, self.task, self.pairs, spell, partial(machine.report, step.title), scored)
        facts = step.facts | {"made with": machine.world.machine | {"scikit-learn": __version__}}
        with making(step.folder, step.kind, facts) as part:
            json_rows.write(part / FLOORS, rows)
        machine.report(step.title, 1, 1)

    def _in_language(self, language: str) -> Task:
        return self.task.in_language(self.source if language == SOURCE else language)


def read_floors(step: Step) -> list[Floor]:
    """Read a finished step's floors, with languages named as in records. Raises BadInput if the file is
    damaged."""

    def name(language: str) -> str:
        return str(step.config.source) if language == SOURCE else language

    rows = json_rows.read(step.open().path(FLOORS), Floor)
    return [replace(row, language=name(row.language), learnt=name(row.learnt)) for row in rows]
