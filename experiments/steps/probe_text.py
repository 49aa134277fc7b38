"""The step that looks whether the probes of a study will have enough to be shown, before any model is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.measures.probe_text import ProbeConfig, ProbeText
from analysis.tasks.catalog import task
from derive.artefact import making
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.step import Machine, Stage, Step
from experiments.steps.languages import DeriveLanguages
from experiments.steps.task_data import DeriveTask

SHOWN = "shown"
"""In the manifest: what the probes of each language are shown, counted."""


@dataclass(frozen=True)
class ShownToProbes(Step):
    """What probes of the last `share` of the text, in rows of `length` ids, are shown in each of the languages `names`.

    It keeps counts only. The probes of a model make what they are shown again, which takes a second or two.
    """

    home: Path
    data: DeriveLanguages
    names: tuple[str, ...]
    share: float
    length: int
    examples: DeriveTask
    config: ProbeConfig

    stage: ClassVar[Stage] = "derive"
    kind: ClassVar[str] = "probe-text"
    format: ClassVar[int] = 1

    @property
    def place(self) -> Path:
        return self.home / "shown-to-probes"

    @property
    def title(self) -> str:
        return "what probes are shown"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.data, self.examples)

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {
            "languages": self.data.fingerprint,
            "examples": self.examples.fingerprint,
            "held out": self.share,
            "length": self.length,
            "probe": self.config,
        }

    def __call__(self, machine: Machine) -> None:
        shown: dict[str, dict[str, int]] = {}
        asked, examples = task(self.examples.task), TaskFolder.open(self.examples.folder)
        for name in self.names:
            languages = Languages.open(self.data.folder, (name,))
            text = ProbeText.of(languages.whole, self.share, self.length, asked, examples, self.config)
            shown[name] = text.counted
            machine.report(self.title, len(shown), len(self.names))
        with making(self.folder, self.kind, self.facts | {SHOWN: shown}):
            pass

    def on_card(self) -> float:
        return 0.0

    def read(self) -> Iterable[dict[str, int]]:
        """The counts of each language, in the order of `names`; see `ProbeText.counted`.

        Raises:
            BadInput: the manifest is damaged.
        """
        counted: dict[str, dict[str, int]] = self.open().facts[SHOWN]
        return [counted[name] for name in self.names]
