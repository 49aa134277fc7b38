"""The training runs below a folder, as far as their files tell: here, or on another machine that shares the folder."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rich.table import Table
from rich.text import Text

from calque.derive.artefact import finished
from calque.derive.errors import BadInput, printable
from calque.experiments.progress import duration

SILENT = 120.0  # seconds without a new row after which a table says for how long
HEADER = ("run", "step", "loss", "tokens/s", "peak", "left")


@dataclass(frozen=True)
class Training:
    """A training run: its name, the last row of losses in its metrics, when that was written, and whether it has a
    checkpoint."""

    name: str
    row: dict[str, Any]
    written: float
    finished: bool

    @classmethod
    def read(cls, path: Path, home: Path) -> Self:
        """The run with the metrics `path`; a last row may still be incomplete."""
        rows, name = list[dict[str, Any]](), str(path.parent.relative_to(home))
        for line in path.read_bytes().splitlines(keepends=True):
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                if line.endswith(b"\n"):
                    raise BadInput(f"not a row of metrics ({error})", path) from None
        with_losses = [row for row in rows if "loss" in row]
        return cls(name, with_losses[-1] if with_losses else {}, path.stat().st_mtime, finished(path.parent))

    def cells(self, now: float) -> tuple[str, ...]:
        """A row of the table at a time in seconds since 1970."""
        if not self.row:
            return (self.name, "-", "-", "-", "-", "begins")
        step, speed, losses = self.row["step"], self.row["tokens/s"], self.row["loss"]
        of, ids = self.row.get("of", step), self.row.get("tokens", 0) / step  # rows of older runs have neither
        silent = now - self.written
        left = f"no row for {duration(silent)}" if silent > SILENT else duration((of - step) * ids / speed)
        return (
            self.name,
            f"{step:,}/{of:,}",
            ", ".join(f"{name} {loss:.2f}" for name, loss in losses.items()),
            f"{speed:,.0f}",
            f"{self.row['mfu']:.0%}",
            "finished" if self.finished else left,
        )


def trainings(home: Path) -> list[Training]:
    """The training runs below a folder, unfinished ones first, each group by name."""
    from calque.pretrain.checkpoint import METRICS  # loads torch

    found = [Training.read(path, home) for path in home.rglob(METRICS)]
    return sorted(found, key=lambda run: (run.finished, run.name))


def table(runs: Sequence[Training], now: float) -> Table:
    """The runs as a table for a terminal."""
    shown = Table(*HEADER, box=None, pad_edge=False)
    shown.columns[0].overflow = "fold"
    for column in shown.columns[1:]:
        column.justify, column.no_wrap = "right", True
    short = [run.name.rpartition("-")[0] for run in runs]  # without the fingerprint, unless only that differs
    for run, name in zip(runs, short, strict=True):
        cells = (name if short.count(name) == 1 else run.name, *run.cells(now)[1:])
        shown.add_row(*(Text(printable(cell)) for cell in cells))  # no markup
    shown.caption = f"{sum(run.finished for run in runs)} of {len(runs)} runs that began have finished"
    return shown


def tables(home: Path, seconds: float) -> Iterator[Table]:
    """The table now and after every pause of some seconds, without end."""
    while True:
        yield table(trainings(home), time.time())
        time.sleep(seconds)
