"""A step of a study: a folder, the steps that it needs, what fills the folder, and a title.

A study lists its steps, and `experiments.schedule` computes those whose folder is not finished. The folder's name ends
with a fingerprint of everything that decides its bytes, so that a finished folder never needs to be made again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from derive.artefact import Artefact, finished
from derive.files import fingerprint
from derive.own_code import code_of
from experiments.progress import Report, silent

if TYPE_CHECKING:
    from pretrain.cost import TrainingBytes
    from pretrain.distributed import World

Stage = Literal["derive", "pretrain", "evaluate"]


@dataclass(frozen=True)
class Machine:
    """What a step computes with and where it reports progress; none of it decides what is learnt.

    A step may start `workers` processes. `allow_change` lets it resume what another machine began.
    """

    report: Report = silent
    workers: int = 1
    allow_change: bool = False

    @cached_property
    def world(self) -> World:
        """The processes that torchrun started, this one among them, and the device."""
        from pretrain import distributed

        return distributed.join()

    @property
    def described(self) -> dict[str, Any]:
        """What can change a result in its last digits: torch, threads and device."""
        import torch

        device = self.world.device.type
        return {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": device}


@dataclass(frozen=True)
class Cost:
    """The cost of pretraining a model: steps, parameters, floating-point operations, and bytes at the peak here.

    A step has `batch` rows, and `card` says what they take on a card.
    """

    steps: int
    parameters: int
    flops: float
    memory: int
    batch: int
    card: TrainingBytes


class Step(ABC):
    """One step. A new kind is a frozen dataclass with these class variables, three properties and a call.

    `kind` is that of its artefact. Raise `format` when a change of the code makes other bytes from the same inputs.
    Under torchrun, all processes compute a `shared` step together, and the first computes any other. A step that
    `spreads` starts workers of its own, so no other step runs beside it.
    """

    stage: ClassVar[Stage]
    kind: ClassVar[str]
    format: ClassVar[int]
    shared: ClassVar[bool] = False
    spreads: ClassVar[bool] = False

    @property
    def threads(self) -> int:
        """Threads that it computes with."""
        return 1

    @property
    @abstractmethod
    def place(self) -> Path:
        """The folder without its fingerprint."""

    @property
    @abstractmethod
    def decided_by(self) -> Mapping[str, Any]:
        """Everything that determines the result, except for the machine, by name."""

    @property
    @abstractmethod
    def title(self) -> str:
        """For people: `pretrain trans.inv/MLM/seed-0`."""

    @property
    def needs(self) -> tuple[Step, ...]:
        """The steps whose folders it reads."""
        return ()

    @abstractmethod
    def __call__(self, machine: Machine) -> None:
        """Make the folder, the manifest last.

        Raises:
            BadInput: what it reads is missing, damaged, or cannot be used.
        """

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change with the format and with anything that `decided_by` names.

        That of a step that is not Calque's changes with its code, too.
        """
        code = code_of(type(self))
        return fingerprint(self.kind, self.format, self.decided_by, *([code] if code else []))

    @property
    def folder(self) -> Path:
        """Where the result lies."""
        return self.place.with_name(f"{self.place.name}-{self.fingerprint}")

    @property
    def finished(self) -> bool:
        """Whether the folder is whole."""
        return finished(self.folder)

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest of every kind of step holds."""
        return {"format": self.format, "fingerprint": self.fingerprint, "made from": dict(self.decided_by)}

    def open(self) -> Artefact:
        """The finished folder.

        Raises:
            BadInput: it is not finished, or its manifest is damaged.
        """
        return Artefact.open(self.folder, self.kind)

    def check(self, report: Report) -> None:
        """Check the finished folder, before hours of work that needs it.

        Raises:
            BadInput: naming the file.
        """
        self.open().verify(lambda done, of: report(f"checking {self.place.name}", done, of))

    def check_memory(self, there: float, processes: int = 1) -> None:
        """Refuse, before anything is computed, a step that cannot work in `there` bytes; most kinds need few.

        `processes` share its rows, each with as many bytes.

        Raises:
            BadInput: naming the setting that takes the most.
        """
        return

    def on_card(self) -> float | None:
        """Bytes of a card that it is expected to take at the peak, 0 if it computes on none; None: nobody can say."""
        return 0.0 if self.stage == "derive" else None

    def cost(self) -> Cost | None:
        """Its cost, where that can be estimated beforehand."""
        return None


def with_needs(steps: Iterable[Step]) -> list[Step]:
    """The steps, each once and after those that it needs."""
    ordered: dict[Path, Step] = {}

    def add(step: Step) -> None:
        if step.folder not in ordered:
            for need in step.needs:
                add(need)
            ordered[step.folder] = step

    for step in steps:
        add(step)
    return list(ordered.values())
