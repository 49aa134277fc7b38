"""The step that derives a task's examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.tasks.catalog import task
from analysis.tasks.split import Split, check
from derive.language import SOURCE
from derive.source import SPLITS, Source
from derive.task_data import FORMAT, KIND, TaskFolder, derive_task, task_data_fingerprint
from derive.transform import Transform
from experiments.progress import Report
from experiments.step import Machine, Stage, Step


@dataclass(frozen=True)
class DeriveTask(Step):
    """The examples of one task of a source, and their images by some transforms."""

    home: Path
    cache: Path
    source: Source
    task: str
    transforms: tuple[Transform, ...]

    stage: ClassVar[Stage] = "derive"
    kind: ClassVar[str] = KIND
    format: ClassVar[int] = FORMAT

    @property
    def place(self) -> Path:
        return self.home / "tasks" / self.task

    @property
    def title(self) -> str:
        return f"examples of {self.task}"

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"examples": self._fingerprint(self.transforms)}

    def language(self, name: str) -> str:
        """The fingerprint of the examples in one language, which does not depend on the others."""
        return self._fingerprint(tuple(transform for transform in self.transforms if transform.name == name))

    def __call__(self, machine: Machine) -> None:
        derive_task(self.source, self.task, self.transforms, self.folder, self.cache, machine.report)
        self.check(machine.report)

    def check(self, report: Report) -> None:
        """Find damaged examples, and labels and metrics that scoring would fail on, before anything is trained."""
        examples, its = TaskFolder.open(self.folder), task(self.task)
        files = [(split, SOURCE) for split in SPLITS]
        files += [(split, transform.name) for split in ("train", "test") for transform in self.transforms]
        sets = {file: Split(examples.path(*file), its, self.source.files_of(self.task, file[0])) for file in files}
        check(sets["train", SOURCE], sets.values())

    def _fingerprint(self, transforms: tuple[Transform, ...]) -> str:
        return task_data_fingerprint(self._examples, self.task, transforms)

    @cached_property
    def _remembered(self) -> dict[bool, str]:
        return {}

    def _examples(self, task: str, trees: bool) -> str:
        """The examples' fingerprint, with or without their trees; kept, because files must be read for it."""
        if trees not in self._remembered:
            self._remembered[trees] = self.source.task_identity(task, trees)
        return self._remembered[trees]
