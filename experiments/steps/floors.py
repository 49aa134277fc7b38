"""The steps that score baselines without a model on a task's examples: a folder of floors a task."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from analysis.baselines.baseline import Spell
from analysis.records import json_rows
from analysis.records.record import FLOORS, Floor
from analysis.tasks.catalog import task
from analysis.tasks.floors import floors, spelling
from analysis.tasks.task import Task
from derive.artefact import making
from derive.languages import SOURCE, Languages
from derive.task_data import TaskFolder
from experiments.step import Machine, Stage, Step
from experiments.steps.languages import LanguagesStep
from experiments.steps.natural_data import NaturalTask
from experiments.steps.task_data import DeriveTask


@dataclass(frozen=True)
class FloorStep(Step):
    """Floors of one task for some (language learnt from, language tested in)."""

    home: Path
    task: str
    pairs: tuple[tuple[str, str], ...]

    stage: ClassVar[Stage] = "evaluate"
    kind: ClassVar[str] = "floors"

    @property
    @abstractmethod
    def spell(self) -> Mapping[str, Spell]:
        """How the words of each language are told apart."""

    def scored(self, language: str) -> Task:
        """The task as it is scored in a language."""
        return task(self.task)

    @property
    @abstractmethod
    def data(self) -> Step:
        """The step that makes the examples."""

    @property
    def place(self) -> Path:
        return self.home / "floors" / self.task

    @property
    def title(self) -> str:
        return f"floors of {self.task}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.data,)

    @property
    def decided_by(self) -> dict[str, Any]:
        its = task(self.task)
        return {"examples": self.data.fingerprint, "task": its, "baselines": its.baselines, "pairs": self.pairs}

    def __call__(self, machine: Machine) -> None:
        from sklearn import __version__

        examples = TaskFolder.open(self.data.folder)
        report = partial(machine.report, self.title)
        made = floors(examples, task(self.task), self.pairs, self.spell, report, self.scored)
        facts = self.facts | {"made with": machine.described | {"scikit-learn": __version__}}
        with making(self.folder, self.kind, facts) as part:
            json_rows.write(part / FLOORS, made)
        machine.report(self.title, 1, 1)

    def on_card(self) -> float:
        return 0.0

    def read(self) -> list[Floor]:
        """The floors of the finished step.

        Raises:
            BadInput: they are damaged.
        """
        return json_rows.read(self.open().path(FLOORS), Floor)


@dataclass(frozen=True)
class DerivedFloors(FloorStep):
    """Floors in a source and in languages that derive from it, told apart as ids of the study's vocabulary do."""

    languages: LanguagesStep
    examples: DeriveTask

    format: ClassVar[int] = 1

    @property
    def data(self) -> DeriveTask:
        return self.examples

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.languages, self.examples)

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "languages": self.languages.fingerprint}

    @property
    def spell(self) -> Mapping[str, Spell]:
        names = dict.fromkeys(name for pair in self.pairs for name in pair)
        known = Languages.open(self.languages.folder, [name for name in names if name != SOURCE])
        return {name: spelling(known, name) for name in names}


@dataclass(frozen=True)
class NaturalFloors(FloorStep):
    """Floors of what is learnt in one natural language, in it and in others; a word is the same if it is spelled so."""

    examples: NaturalTask
    source: str

    format: ClassVar[int] = 2

    @property
    def data(self) -> NaturalTask:
        return self.examples

    @property
    def spell(self) -> Mapping[str, Spell]:
        return {name: str for pair in self.pairs for name in pair}

    def scored(self, language: str) -> Task:
        return task(self.task).in_language(self.source if language == SOURCE else language)

    def read(self) -> list[Floor]:
        """The floors of the finished step, in languages as records call them.

        Raises:
            BadInput: they are damaged.
        """
        names = {SOURCE: self.source}
        return [
            replace(row, language=names.get(row.language, row.language), learnt=names.get(row.learnt, row.learnt))
            for row in super().read()
        ]
