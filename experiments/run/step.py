"""Steps of a study: functions that fill folders, and frozen configs that determine the folders' bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calque.derive.artefact import Artefact, finished
from calque.derive.errors import BadInput
from calque.derive.fingerprint import code_of, fingerprint, plain
from calque.derive.workers import Progress as Report
from calque.derive.workers import silent

if TYPE_CHECKING:
    from calque.pretrain.distributed import World

Stage = Literal["derive", "pretrain", "evaluate"]
Watch = Callable[["Step", bool], None]
"""`watch(step, finished)` is called when a step begins and when it is finished."""


def unwatched(step: Step, finished: bool) -> None:
    """Ignore a step's beginning and end."""


def cached_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """Cache a method's results in its instance, which may be frozen and unhashable."""
    results = f"_{method.__name__}_results"

    @wraps(method)
    def cached(self: Any, *arguments: Any) -> Any:
        known = vars(self).setdefault(results, {})
        if arguments not in known:
            known[arguments] = method(self, *arguments)
        return known[arguments]

    return cached


@dataclass(frozen=True)
class Machine:
    """The resources and callbacks for computing a step, which do not affect its result. A step may start
    `workers` processes. `allow_change` lets it resume work from a different machine."""

    report: Report = silent
    workers: int = 1
    allow_change: bool = False
    watch: Watch = unwatched

    @cached_property
    def world(self) -> World:
        """This process among torchrun's, and its device."""
        from calque.pretrain import distributed

        return distributed.join()


@dataclass(frozen=True)
class Step:
    """A folder, whose name ends in a fingerprint of the config, and the function that fills it.

    config: all values that determine the folder's bytes, including the steps whose folders `function` reads.
        A value's `identity` method, if it has one, returns its part of the fingerprint. The config's
        `check` method, if it has one, checks the finished folder.
    place: the folder's path without the fingerprint.
    kind: the kind of artefact.
    format: a version number, incremented when a change to `function` alters the bytes.
    shared: whether torchrun's processes compute the step together; other steps are computed by the first.
    spreads: whether the step starts its own workers, so that no other step may run at the same time.
    after: other steps to compute before this one.
    """

    function: Callable[[Step, Machine], None]
    config: Any
    place: Path
    title: str
    stage: Stage
    kind: str
    format: int = 1
    threads: int = 1
    shared: bool = False
    spreads: bool = False
    after: tuple[Step, ...] = ()

    @cached_property
    def needs(self) -> tuple[Step, ...]:
        """The steps whose folders this step reads, and other steps that must be finished first."""
        return (*_steps_in(self.config), *self.after)

    @cached_property
    def identity(self) -> Any:
        """Everything that determines the result, apart from the machine, as plain values."""
        return plain(_identity_of(self.config))

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.kind, self.format, self.identity)

    @property
    def folder(self) -> Path:
        return self.place.with_name(f"{self.place.name}-{self.fingerprint}")

    @property
    def finished(self) -> bool:
        return finished(self.folder)

    @property
    def facts(self) -> dict[str, Any]:
        return {"format": self.format, "fingerprint": self.fingerprint, "made from": self.identity}

    def __call__(self, machine: Machine) -> None:
        """Fill the folder, writing the manifest last. Raises BadInput if an input is missing or unusable."""
        self.function(self, machine)

    def open(self) -> Artefact:
        """Open the finished folder. Raises BadInput if it is unfinished or its manifest is damaged."""
        return Artefact.open(self.folder, self.kind)

    def check(self, report: Report) -> None:
        """Check the finished folder. Raises BadInput, naming the damaged file."""
        if check := getattr(self.config, "check", None):
            check(self.folder)
        else:
            self.open().verify(lambda done, of: report(f"checking {self.place.name}", done, of))


def is_finished(step: Step) -> bool:
    """Whether a step is finished; False while a file of its data is missing."""
    try:
        return step.finished
    except BadInput:
        return False


def _steps_in(value: Any) -> Iterator[Step]:
    if isinstance(value, Step):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _steps_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _steps_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _steps_in(item)


def _identity_of(value: Any) -> Any:
    """Replace steps by fingerprints, and values that have an `identity` method by its result."""
    if isinstance(value, Step):
        return value.fingerprint
    if not isinstance(value, type) and callable(identity := getattr(value, "identity", None)):
        code = code_of(type(value))
        return {"identity": _identity_of(identity()), "code": code} if code else _identity_of(identity())
    if dataclasses.is_dataclass(value) and any(_steps_in(value)):
        fields = {field.name: _identity_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields, "code": code_of(type(value))}
    if isinstance(value, Mapping):
        return {key: _identity_of(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_identity_of(item) for item in value]
    return value


def with_needs(steps: Iterable[Step]) -> list[Step]:
    """Return the steps and all that they need, without duplicates, each step after its dependencies."""
    ordered: dict[Path, Step] = {}

    def add(step: Step) -> None:
        if step.folder not in ordered:
            for need in step.needs:
                add(need)
            ordered[step.folder] = step

    for step in steps:
        add(step)
    return list(ordered.values())
