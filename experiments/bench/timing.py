"""Ratios measured in one run: both sides take turns, medians are compared, rows of JSON keep them."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Comparison:
    """Ours against theirs, both in `unit`; `ratio` is how many times better ours is."""

    bench: str
    what: str
    ours: float
    theirs: float
    unit: str
    ratio: float


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(sides: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """Each side's median over `rounds` rounds in which they take turns, so that what else runs slows all alike.

    A side returns its own measurement; one round that is not counted goes first.
    """
    for side in sides:
        side()
    measured = [[side() for side in sides] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*measured, strict=True)]


def agreement(same: int, of: int, what: str, least: float = 1.0) -> str:
    """What a row of the table says of the results of its two sides: how many of them are equal.

    Raises:
        SystemExit: fewer than `least` of them are: the two sides do not do the same, and a ratio would say nothing.
    """
    said = f"{same:,} of {of:,} {what} equal"
    if not of or same < least * of:
        raise SystemExit(f"no comparison: {said}")
    return said


def cpu() -> str:
    """The processor's name."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text(encoding="utf-8").splitlines() if names.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {len(models)} logical"


def report(comparisons: Sequence[Comparison], packages: Sequence[str], out: Path | None) -> None:
    """Print a table; append a row a comparison to `out`, if given."""
    table = Table("bench", "what", "ours", "theirs", "unit", "ratio")
    for c in comparisons:
        table.add_row(c.bench, c.what, f"{c.ours:,.4g}", f"{c.theirs:,.4g}", c.unit, f"{c.ratio:.2f}x")
    Console().print(table)
    if out is not None:
        about = {
            "date": date.today().isoformat(),
            "cpu": cpu(),
            "versions": {"python": platform.python_version()} | {package: version(package) for package in packages},
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(c) | about) + "\n" for c in comparisons)


def arguments(description: str, rounds: int, threads: int = 2) -> argparse.Namespace:
    """The options that every benchmark has: --rounds, --threads, --out."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds in which the sides take turns")
    parser.add_argument("--threads", type=int, default=threads, help="threads of torch")
    parser.add_argument("--out", type=Path, help="a file to append rows of JSON to")
    return parser.parse_args()
