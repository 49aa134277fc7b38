"""The cost of steps (seconds, CPU seconds, processors and operations), as recorded in their manifests."""

import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from calque.derive.artefact import add_facts
from calque.derive.errors import BadInput
from calque.derive.files import write_json
from calque.derive.strict_json import loads
from calque.experiments.run.step import Machine, Step

COMPUTE = "compute"  # the key in manifests and in a report's description
EVERY = 10.0  # seconds between records; a killed process loses the time since its last record


@contextmanager
def metered(step: Step, machine: Machine) -> Iterator[Machine]:
    """Yield a machine for computing a step. The cost, including that of earlier commands that were
    stopped, is recorded next to the step's folder while the block runs, and in the manifest at the end."""
    path = step.folder.with_name(f".{step.folder.name}.{COMPUTE}")
    before: dict[str, Any] = loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    start, cpu, name, noted = time.perf_counter(), _cpu_seconds(), _processor(machine), time.perf_counter()

    def spent() -> dict[str, Any]:
        seconds = time.perf_counter() - start
        return {
            "seconds": before.get("seconds", 0.0) + seconds,
            "cpu seconds": before.get("cpu seconds", 0.0) + (_cpu_seconds() - cpu) * machine.world.size,
            "processors": Counter(before.get("processors", {})) + Counter({name: seconds}),
        }

    def report(what: str, done: int, of: int) -> None:
        nonlocal noted
        machine.report(what, done, of)
        if time.perf_counter() - noted > EVERY:
            noted = time.perf_counter()
            note()

    def note() -> None:
        with suppress(OSError, BadInput):  # the disk is full, or the folder was removed
            write_json(path, spent())

    try:
        yield replace(machine, report=report)
    except BaseException as error:
        if isinstance(error, Exception) and not step.folder.exists():  # nothing to resume from
            path.unlink(missing_ok=True)
        else:
            note()
        raise
    add_facts(step.folder, {COMPUTE: {**spent(), "operations": float(getattr(step.config, "work", 0.0))}})
    path.unlink(missing_ok=True)


def total(steps: Iterable[Step]) -> dict[str, Any]:
    """Sum the cost of finished steps; `unknown` counts steps without a recorded cost."""
    costs = [step.open().facts.get(COMPUTE) for step in steps]
    known = [cost for cost in costs if cost is not None]
    processors = Counter[str]()
    for cost in known:
        processors.update(cost["processors"])

    def summed(key: str) -> float:
        return sum((cost[key] for cost in known), 0.0)

    return {
        "steps": len(costs),
        "unknown": len(costs) - len(known),
        "seconds": round(summed("seconds"), 1),
        "cpu seconds": round(summed("cpu seconds"), 1),
        "operations": summed("operations"),
        "processors": {name: round(seconds, 1) for name, seconds in processors.items()},
    }


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and its finished child processes."""
    return sum(os.times()[:4])


def _processor(machine: Machine) -> str:
    if machine.world.device.type == "cuda":
        import torch

        return torch.cuda.get_device_name(machine.world.device)
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()
