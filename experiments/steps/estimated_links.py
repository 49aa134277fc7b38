"""The step that estimates the word links of a bitext, for objectives that learn from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from derive.estimated_links import ALL, PairSample, estimate_links
from derive.language import SOURCE
from derive.languages import Languages
from derive.links.stored import FORMAT, KIND
from derive.links.symmetrise import SYMMETRISATIONS
from experiments.step import Machine, Stage, Step
from experiments.steps.languages import LanguagesStep
from pretrain.objective import GROWN, Linked


@dataclass(frozen=True)
class EstimatedLinks(Step):
    """fast_align's links of the bitext of two languages of `data`: of the pairs that are `drawn`, so symmetrised."""

    data: LanguagesStep
    first: str
    second: str
    method: Linked = GROWN
    drawn: PairSample = ALL

    stage: ClassVar[Stage] = "derive"
    kind: ClassVar[str] = KIND
    format: ClassVar[int] = FORMAT

    @property
    def place(self) -> Path:
        return self.data.folder / "estimated" / f"{self.first}-{self.second}"

    @property
    def title(self) -> str:
        return f"estimated links {self.first}-{self.second}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.data,)

    @property
    def decided_by(self) -> dict[str, Any]:
        facts = {"languages": {name: self.data.language(name) for name in (self.first, self.second) if name != SOURCE}}
        method = {"method": self.method} if self.method != GROWN else {}
        return facts | method | ({"drawn": self.drawn} if self.drawn != ALL else {})

    def __call__(self, machine: Machine) -> None:
        machine.report(self.title, 0, 1)
        names = [name for name in (self.first, self.second) if name != SOURCE]
        languages, method = Languages.open(self.data.folder, names), SYMMETRISATIONS[self.method]
        estimate_links(languages, self.first, self.second, self.folder, method, drawn=self.drawn)
        machine.report(self.title, 1, 1)
