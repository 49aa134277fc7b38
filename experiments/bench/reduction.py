"""A step of two processes: gradients summed during the backward pass, after it, and by DDP, in one run.

    python -m experiments.bench.reduction [--rounds 20] [--out FILE]

Two processes of one thread each, over gloo, take a step of MLM up to the sums: forward, backward, sums. In wall-clock
time, for waiting is what is measured, so on a machine that is idle otherwise. A step that sums nothing shows how much
there is to gain. On a machine of two cores sums and products share them: what one hides of the other is the waiting for
the other process and for the system, no computing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from experiments.bench.hugging_face import made_languages
from experiments.bench.timing import Comparison, agreement, arguments, report, seconds
from pretrain.batch import Batch
from pretrain.config import ModelConfig
from pretrain.distributed import World, join, leave
from pretrain.model import Learner, build
from pretrain.objective import Stream
from pretrain.objectives.mlm import MLM
from pretrain.reduction import Reduction
from pretrain.train import Draws

MODELS = {
    "2 layers of 64, table of 4,000 x 64": (ModelConfig(2, 2, 64, 256, 32, 0.0), 4_000, 64),
    "4 layers of 256, table of 16,000 x 256": (ModelConfig(4, 4, 256, 1024, 128, 0.0), 16_000, 16),
    "2 layers of 512, table of 80,000 x 512": (ModelConfig(2, 8, 512, 2048, 128, 0.0), 80_000, 4),
}
"""Shape, rows of the table, and rows of a step over both processes."""
SIZE = 2
CLOSE = 1e-6
SIDES = ("during the backward pass", "after it, in one message", "DistributedDataParallel", "no sums")


class Losses(nn.Module):
    """A stream's loss as a module's output, which is what DDP wraps."""

    def __init__(self, learner: Learner, stream: Stream) -> None:
        super().__init__()
        self.learner, self.stream = learner, stream

    def forward(self, part: Batch) -> Tensor:
        """The sum of the losses."""
        return torch.stack(list(self.stream.losses(self.learner, part).values())).sum()


class Side:
    """A model of its own, and one way to sum its gradients: here none."""

    def __init__(self, config: ModelConfig, rows: int, stream: Stream, world: World) -> None:
        self.world, self.stream = world, stream
        self.learner = Learner(build(config, rows), {})
        self.loss: Callable[[Batch], Tensor] = Losses(self.learner, stream)
        self.parameters = list(self.learner.trained.values())

    def step(self, part: Batch, count: int) -> None:
        """Give every parameter a gradient."""
        (self.loss(part) / count).backward()


class During(Side):
    """As `pretrain.train` does it."""

    def step(self, part: Batch, count: int) -> None:
        for _, mine in Reduction(self.learner, self.world).through([(self.stream, part)]):
            super().step(mine, count)


class After(Side):
    """One message that all gradients are copied to and from."""

    def step(self, part: Batch, count: int) -> None:
        super().step(part, count)
        flat = torch.cat([p.grad.flatten() for p in self.parameters if p.grad is not None])
        self.world.add(flat)
        for parameter, piece in zip(self.parameters, flat.split([p.numel() for p in self.parameters]), strict=True):
            parameter.grad = piece.view_as(parameter)


class Parallel(Side):
    """torch's own, with its defaults; it divides by the number of processes, so the loss is as many times as large."""

    def __init__(self, config: ModelConfig, rows: int, stream: Stream, world: World) -> None:
        super().__init__(config, rows, stream, world)
        self.loss = nn.parallel.DistributedDataParallel(Losses(self.learner, stream))

    def step(self, part: Batch, count: int) -> None:
        (self.loss(part) * (self.world.size / count)).backward()


def measure(world: World, rounds: int) -> Iterator[tuple[str, float, list[float]]]:
    """For each model: how far gradients are from the first side's at most, and each side's milliseconds a step."""
    for name, (config, rows, batch) in MODELS.items():
        made = made_languages(rows // 2, 60_000)
        streams = MLM().streams(made, config.length, 0)
        draws = Draws(streams, batch, 0)
        sides = [side(config, rows, streams[0], world) for side in (During, After, Parallel, Side)]

        def at(step: int, draws: Draws = draws) -> tuple[Batch, int]:
            (whole,), counts = draws.at(step)
            return whole.part(world.rank, world.size), counts["mlm"]

        apart = farthest(sides[:3], *at(0))
        times: list[list[float]] = []
        for step in range(rounds + 1):
            part, count = at(step)
            times.append([_timed(side, part, count) for side in sides])
        yield name, apart, [1e3 * statistics.median(column) for column in zip(*times[1:], strict=True)]


def farthest(sides: Sequence[Side], part: Batch, count: int) -> float:
    """The largest difference of the others' gradients from the first one's, as a fraction of their norm."""
    for side in sides:
        side.step(part, count)
    first, *others = ([p.grad for p in side.parameters if p.grad is not None] for side in sides)
    norm = sum(float(gradient.norm() ** 2) for gradient in first) ** 0.5
    made = [
        sum(float((a - b).norm() ** 2) for a, b in zip(first, other, strict=True)) ** 0.5 / norm for other in others
    ]
    for side in sides:
        side.learner.zero_grad()
    return max(made)


def _timed(side: Side, part: Batch, count: int) -> float:
    side.world.wait()
    taken = seconds(lambda: side.step(part, count))
    side.learner.zero_grad()
    return taken


def process(rank: int, port: int, options: argparse.Namespace) -> None:
    """One of the two; the first reports."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(SIZE), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(options.threads)
    world = join()
    rows = []
    for name, apart, (during, *others) in measure(world, options.rounds):
        equal = agreement(int(apart < CLOSE), 1, f"gradients to {CLOSE:.0e}")
        for what, other in zip(SIDES[1:], others, strict=True):
            rows.append(Comparison("reduction", f"{name}, beside {what}; {equal}", during, other, "ms", other / during))
    leave()
    if world.first:
        report(rows, ["torch", "transformers"], options.out)


def main() -> None:
    """Start both processes."""
    options = arguments(f"gradients of {SIZE} processes, summed in different ways", rounds=20, threads=1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context: Any = multiprocessing.get_context("spawn")
    processes = [context.Process(target=process, args=(rank, port, options)) for rank in range(SIZE)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    if any(one.exitcode for one in processes):
        raise SystemExit("a process failed")


if __name__ == "__main__":
    main()
