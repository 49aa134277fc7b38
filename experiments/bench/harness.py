"""Ratios of speeds measured in turns, one ratio per round."""

import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from calque.analysis.statistics.intervals import estimate
from calque.derive.errors import BadInput
from calque.derive.files import write_json

FOLDERS = {"CALQUE_DATA": "the data sets of `calque data fetch`", "CALQUE_ENCODER": "a multilingual encoder"}


@dataclass(frozen=True)
class Comparison:
    """Our rates and the alternative's (`against`), in `unit`, one per round."""

    what: str
    against: str
    unit: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratio(self) -> str:
        """The geometric mean of ours over theirs across rounds, with its 95 % t interval."""
        logs = estimate([math.log(a / b) for a, b in zip(self.ours, self.theirs, strict=True)])
        mean, *bounds = (f"{math.exp(n):.3g}" for n in (logs.mean, logs.low, logs.high) if n is not None)
        return f"{mean} [{', '.join(bounds)}]" if bounds else mean

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The operation, the alternative, our median rate, and the ratio."""
        rate = float(f"{statistics.median(self.ours):.3g}")
        return self.what, self.against, f"{rate:,g} {self.unit}", self.ratio


def interleaved(sides: Sequence[Callable[[], float]], rounds: int) -> list[tuple[float, ...]]:
    """Measure each side in `rounds` rounds, after a warm-up round. Sides take turns, so that other work slows
    them equally."""
    for side in sides:
        side()
    measured = [[float(f"{side():.6g}") for side in sides] for _ in range(rounds)]
    return list(zip(*measured, strict=True))


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time per call in all threads, averaged over half a second; other work on the machine
    hardly affects it."""
    start, calls = time.process_time(), 0
    while (seconds := time.process_time() - start) < 0.5 or not calls:
        work()
        calls += 1
    return seconds / calls


def check_equal(same: int, total: int, what: str, least: float = 1.0) -> str:
    """Return a message with the number of equal results; exit if their fraction is below `least`."""
    if not total or same < least * total:
        raise SystemExit(f"nothing to compare: only {same:,} of {total:,} {what} are equal")
    return f"{same:,} of {total:,} {what} equal"


def folder_of(variable: str) -> Path:
    """Return the folder named by an environment variable. Raises BadInput if there is none."""
    if not (folder := os.environ.get(variable)):
        raise BadInput(f"this benchmark needs {FOLDERS[variable]}: set {variable} to the folder")
    if not (found := Path(folder)).is_dir():
        raise BadInput(f"no such folder; {variable} should name {FOLDERS[variable]}", found)
    return found


def cpu() -> str:
    """Return the processor's name and number of logical cores."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text(encoding="utf-8").splitlines() if names.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {len(models)} logical cores"


def write(comparisons: Mapping[str, Sequence[Comparison]], about: Mapping[str, Any], path: Path) -> None:
    """Write a JSON record of comparisons and of `about`, which says where and how they were measured."""
    rows = [{"bench": bench, **asdict(row)} for bench, of_bench in comparisons.items() for row in of_bench]
    write_json(path, {**about, "processor": cpu(), "rows": rows})


def read(path: Path) -> tuple[dict[str, Any], dict[str, list[Comparison]]]:
    """Read a record: where and how it was measured, and its comparisons by benchmark."""
    about, comparisons = json.loads(path.read_text(encoding="utf-8")), dict[str, list[Comparison]]()
    for row in about.pop("rows"):
        rates = {side: tuple(row[side]) for side in ("ours", "theirs")}
        comparisons.setdefault(row.pop("bench"), []).append(Comparison(**row | rates))
    return about, comparisons
