"""The cost of steps (seconds, CPU seconds, processors and operations), recorded in each step's manifest, and
the total cost."""

import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from calque.derive.artefact import Artefact, add_facts
from calque.derive.errors import BadInput
from calque.derive.files import write_json
from calque.derive.strict_json import loads
from calque.experiments.run.step import Machine, Step

COMPUTE = "compute"  # the key in manifests and in a report's description
EVERY = 10.0  # seconds between records; a killed process loses the time since its last record


@contextmanager
def metered(step: Step, machine: Machine) -> Iterator[Machine]:
    """Yield the machine on which to compute a step. The cost, including that of earlier, stopped commands, is
    recorded next to the step's folder while the block runs, and in its manifest at the end."""
    path = step.folder.with_name(f".{step.folder.name}.{COMPUTE}")
    before: dict[str, Any] = loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    start, cpu, name, noted = time.perf_counter(), _cpu_seconds(), _processor(machine), time.perf_counter()

    def spent() -> dict[str, Any]:
        seconds = time.perf_counter() - start
        processors = Counter(before.get("processors", {})) + Counter({name: seconds})
        cpu_seconds = before.get("cpu seconds", 0.0) + (_cpu_seconds() - cpu) * machine.world.size
        return {
            "seconds": before.get("seconds", 0.0) + seconds,
            "cpu seconds": cpu_seconds,
            "processors": processors,
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
    """Sum the cost of finished steps, whichever study computed them; `unknown` counts steps without a
    recorded cost."""
    seconds = cpu_seconds = operations = 0.0
    processors, number, unknown = Counter[str](), 0, 0
    for step in steps:
        number += 1
        spent = Artefact.open(step.folder, step.kind).facts.get(COMPUTE)
        if spent is None:
            unknown += 1
            continue
        seconds += spent["seconds"]
        cpu_seconds += spent["cpu seconds"]
        operations += spent["operations"]
        processors.update(spent["processors"])
    return {
        "steps": number,
        "unknown": unknown,
        "seconds": round(seconds, 1),
        "cpu seconds": round(cpu_seconds, 1),
        "operations": operations,
        "processors": {name: round(its, 1) for name, its in processors.items()},
    }


def _cpu_seconds() -> float:
    """CPU seconds of this process and of its finished child processes."""
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
