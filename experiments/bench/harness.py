"""Ratios measured in one run: both sides take turns, medians are compared, and a table shows them."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from calque.derive.errors import BadInput
from calque.pretrain.hub import model_folder


@dataclass(frozen=True)
class Comparison:
    """Our rate and theirs, both in `unit`."""

    what: str
    ours: float
    theirs: float
    unit: str


def interleaved(sides: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """Each side's median over `rounds` rounds in which they take turns, so that other work slows all equally. A side
    returns its own measurement; the first round is not counted."""
    for side in sides:
        side()
    measured = [[side() for side in sides] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*measured, strict=True)]


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time of a call, over all threads, which other work hardly changes. Short work is repeated for half a
    second and averaged."""
    start, calls = time.process_time(), 0
    while (taken := time.process_time() - start) < 0.5 or not calls:
        work()
        calls += 1
    return taken / calls


def step_seconds(ends: Sequence[float], warm: int) -> float:
    """The median seconds of a step, from the times at which steps ended; the first `warm` are not counted."""
    return statistics.median(after - before for before, after in zip(ends[warm - 1 :], ends[warm:], strict=False))


def check_equal(same: int, total: int, what: str, least: float = 1.0) -> str:
    """A message on how many results of both sides are equal; exits if fewer than the fraction `least`."""
    if not total or same < least * total:
        raise SystemExit(f"no comparison: {same:,} of {total:,} {what} equal")
    return f"{same:,} of {total:,} {what} equal"


def folder_of(variable: str) -> Path:
    """The folder of real text, or of an encoder, that an environment variable names."""
    if not (folder := os.environ.get(variable)):
        raise BadInput(f"this benchmark needs real text and a real encoder: set {variable} to the folder")
    return model_folder(folder)


def cpu() -> str:
    """The processor's name and its number of logical cores."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text(encoding="utf-8").splitlines() if names.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {len(models)} logical"


def report(comparisons: Mapping[str, Sequence[Comparison]]) -> None:
    """Print the comparisons of each benchmark as a table."""
    table = Table("bench", "what", "ours", "theirs", "unit", "ratio", title=cpu())
    for bench, rows in comparisons.items():
        for row in rows:
            table.add_row(
                bench, row.what, f"{row.ours:,.4g}", f"{row.theirs:,.4g}", row.unit, f"{row.ours / row.theirs:.2f}x"
            )
    Console().print(table)
