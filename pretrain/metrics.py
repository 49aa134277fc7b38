"""metrics.jsonl: a row every few steps, and one a probe."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from derive import strict_json
from derive.errors import BadInput
from derive.files import whole_file, writing
from pretrain.config import TrainConfig

METRICS = "metrics.jsonl"


class Metrics:
    """The rows of a run: mean losses since the last row, speed, and the share of the machine that was used.

    `terms` are the losses; other numbers that objectives report are means of steps too, in a field of their own.
    `flops` are a step's, `peak` the operations/s of all processes. A run that goes on from a state begins with the
    state's `rows`, a file. A process that does not write keeps nothing.
    """

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        terms: set[str],
        ids_per_step: int,
        flops: float,
        peak: float,
        writes: bool,
        rows: Path | None,
    ) -> None:
        self.path, self.train, self.terms, self.writes = folder / METRICS, config, terms, writes
        self.ids_per_step, self.flops, self.peak = ids_per_step, flops, peak
        self.sums: dict[str, float] = {}
        self.steps, self.since = 0, time.perf_counter()
        if writes:
            with whole_file(self.path) as part:
                part.write_bytes(rows.read_bytes() if rows else b"")

    def add(self, step: int, losses: Mapping[str, float], norm: float) -> None:
        """Count a step; every `log_every` of them become a row, and those that are left at the end."""
        self.sums = {name: self.sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self.steps += 1
        if step % self.train.log_every and step < self.train.steps:
            return
        speed = self.steps / (time.perf_counter() - self.since)
        means = {name: total / self.steps for name, total in self.sums.items()}
        reported = {name: mean for name, mean in means.items() if name not in self.terms}
        self.write(
            {
                "step": step,
                "loss": {name: mean for name, mean in means.items() if name in self.terms},
                **({"reported": reported} if reported else {}),
                "gradient norm": norm,
                "learning rate": self.train.rate(step - 1),
                "tokens/s": speed * self.ids_per_step,
                "mfu": speed * self.flops / self.peak,
            }
        )
        self.sums, self.steps, self.since = {}, 0, time.perf_counter()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within it time does not count in the speed of training."""
        start = time.perf_counter()
        yield
        self.since += time.perf_counter() - start

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one row, if this process is the one that writes."""
        if self.writes:
            with writing(self.path), self.path.open("ab") as file:
                file.write((json.dumps(row) + "\n").encode())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a run's metrics.jsonl."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"no metrics that can be read: {error}", path) from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = strict_json.loads(line)
            if not isinstance(row["step"], int) or not {"loss", "probe"} & row.keys():
                raise ValueError("neither losses nor a probe")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not a row of metrics ({error})", path, number) from error
        rows.append(row)
    return rows
