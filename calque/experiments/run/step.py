"""Steps of a study: folders, the frozen configs that determine and write their contents, and their cost."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from calque.derive.files import Artefact, finished
from calque.derive.fingerprint import code_of, fingerprint, plain
from calque.derive.workers import Progress as Report
from calque.derive.workers import silent

if TYPE_CHECKING:
    from calque.pretrain.distributed import World

COMPUTE = "compute"  # the key of the time in manifests and in a report's description
T = TypeVar("T")
Stage = Literal["derive", "pretrain", "evaluate"]


def first_process() -> bool:
    """Whether this process prints and writes files. Under torchrun, only the first process does."""
    return os.environ.get("RANK", "0") == "0"


def cached_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """Cache a method's results in its instance, which may be frozen and unhashable."""
    results = f"_{method.__name__}_results"

    @wraps(method)
    def cached(self: Any, *arguments: Any) -> Any:
        values = vars(self).setdefault(results, {})
        if arguments not in values:
            values[arguments] = method(self, *arguments)
        return values[arguments]

    return cached


@dataclass(frozen=True)
class Machine:
    """The resources for a step, not its result; `allow_change` resumes another machine's work."""

    report: Report = silent
    workers: int = 1
    allow_change: bool = False

    @cached_property
    def world(self) -> World:
        from calque.pretrain import distributed

        return distributed.join()


@dataclass(frozen=True)
class Step:
    """A folder, whose name ends in a fingerprint of the config, which fills it.

    config: all values that determine the folder's contents, including the steps whose folders are read. Its
        method `compute(step, machine)` fills the folder, the manifest last, and its method `check(step)`, if
        any, checks it. A value's method `identity`, if any, returns its part of the fingerprint.
    place: the folder's path without the fingerprint.
    kind: the kind of artefact.
    format: a version number, incremented when a change to the code alters its output.
    shared: whether torchrun's processes compute the step together; other steps are computed by the first
        process alone.
    spreads: whether the step starts its own workers; such steps are computed first, one at a time.
    after: other steps to compute before this one.
    """

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
        return (*parts_of(self.config, Step), *self.after)

    @cached_property
    def identity(self) -> Any:
        """All that determines the result, apart from the machine, as plain values."""
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

    def open(self) -> Artefact:
        """Open the finished folder. Raises BadInput if it is unfinished or its manifest is damaged."""
        return Artefact.open(self.folder, self.kind)

    def check(self, report: Report) -> None:
        """Check the finished folder. Raises BadInput, naming the damaged file."""
        if check := getattr(self.config, "check", None):
            check(self)
        else:
            self.open().verify(lambda done, of: report(f"checking {self.place.name}", done, of))


def parts_of(value: Any, kind: type[T]) -> Iterator[T]:
    """Yield the instances of a class in a value, its fields and items, at any depth."""
    if isinstance(value, kind):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from parts_of(getattr(value, field.name), kind)
    elif isinstance(value, Mapping | tuple | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from parts_of(item, kind)


def _identity_of(value: Any) -> Any:
    if isinstance(value, Step):
        return value.fingerprint
    if not isinstance(value, type) and callable(identity := getattr(value, "identity", None)):
        code = code_of(type(value))
        return {"identity": _identity_of(identity()), "code": code} if code else _identity_of(identity())
    if dataclasses.is_dataclass(value) and any(parts_of(value, Step)):
        fields = {field.name: _identity_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields, "code": code_of(type(value))}
    if isinstance(value, Mapping):
        return {key: _identity_of(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_identity_of(item) for item in value]
    return value


def with_needs(steps: Iterable[Step]) -> list[Step]:
    """Return the steps and all steps that they need, each once, after its dependencies."""
    ordered: dict[Path, Step] = {}

    def add(step: Step) -> None:
        if step.folder not in ordered:
            for need in step.needs:
                add(need)
            ordered[step.folder] = step

    for step in steps:
        add(step)
    return list(ordered.values())


def total_cost(steps: Iterable[Step]) -> dict[str, Any]:
    """Sum the time of the finished steps whose time is recorded."""
    seconds = [cost["seconds"] for step in steps if (cost := step.open().facts.get(COMPUTE))]
    return {"steps": len(seconds), "seconds": round(sum(seconds), 1)}
