"""Several processes as one: the only file that touches torch.distributed."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from derive.errors import BadInput
from pretrain.pulse import LEFT, LOST, Pulse

PATIENCE = timedelta(minutes=10)
"""For how long a process waits for a message of the others: the first one may be saving or measuring a large model."""
ABSENT = 120.0
"""Seconds without an answer after which a process that no message is awaited from counts as lost."""


class Lost(RuntimeError):
    """Another process ended, or does not answer, so that this one cannot go on."""


@dataclass(frozen=True)
class World:
    """This process among `size` of them, and the device that it computes on.

    All processes call the methods in the same order. Each raises `Lost` when another process is gone.
    """

    rank: int
    size: int
    device: torch.device
    pulse: Pulse | None = field(default=None, compare=False, repr=False)

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.rank == 0

    def add(self, numbers: Tensor) -> Tensor:
        """The sum of a small tensor over all processes."""
        self.begin_adding(numbers)()
        return numbers

    def begin_adding(self, numbers: Tensor) -> Callable[[], None]:
        """Begin to sum a tensor over all processes, in place; the sum is there after a call of what is returned."""
        if self.size == 1:
            return lambda: None
        with self._together():
            work = dist.all_reduce(numbers, async_op=True)

        def done() -> None:
            with self._together():
                work.wait()

        return done

    def gather(self, rows: Tensor) -> Tensor:
        """The rows of all processes, those of the first one first: (sum of N, ...) of (N, ...), where N may differ."""
        if self.size == 1:
            return rows
        counts = torch.zeros(self.size, dtype=torch.long, device=rows.device)
        counts[self.rank] = len(rows)
        sizes = self.add(counts).tolist()
        padded = rows.new_zeros(max(sizes), *rows.shape[1:])
        padded[: len(rows)] = rows
        gathered = [torch.empty_like(padded) for _ in sizes]
        with self._together():
            dist.all_gather(gathered, padded)
        return torch.cat([piece[:size] for piece, size in zip(gathered, sizes, strict=True)])

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            with self._together():
                dist.barrier()

    def expect(self, rank: int) -> None:
        """Make sure that another process is there, whose work takes longer than a message may be waited for."""
        if self.pulse:
            state = self.pulse.ask(rank, ABSENT)
            if state in (LEFT, LOST):
                raise Lost(f"rank {rank} is {'lost' if state == LOST else 'gone after an error'}")

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Say who is lost when a message to the others fails."""
        try:
            yield
        except RuntimeError as error:
            who = self.pulse.lost() if self.pulse else "a message between processes was lost"
            said = re.sub(r"\[/\S+\] ", "", " ".join(str(error).split()))[:100]  # without the line of C++
            raise Lost(f"{who}; rank {self.rank} cannot go on alone ({said})") from error


ALONE = World(0, 1, torch.device("cpu"))
_joined: list[World] = []


def join(patience: timedelta = PATIENCE) -> World:
    """The world that torchrun made, over nccl on GPUs and gloo on CPUs; without torchrun, one process.

    Raises:
        BadInput: the environment says nothing, or nonsense, about where the processes meet.
        Lost: not all of them come.
    """
    rank, size = _number("RANK", 0), _number("WORLD_SIZE", 1)
    gpu = torch.cuda.is_available()
    local = _number("LOCAL_RANK", 0)
    device = torch.device("cuda", local) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    world = World(rank, size, device)
    if size > 1 and not _joined:
        _joined.append(_meet(world, patience))
    return _joined[0] if _joined else world


def _meet(world: World, patience: timedelta) -> World:
    """The world, once all of its processes are there and know how to ask for one another."""
    meeting = os.environ.get("MASTER_ADDR", ""), _number("MASTER_PORT", 0)
    if not all(meeting):
        raise BadInput(f"the environment has WORLD_SIZE={world.size}, but not where to meet; torchrun sets MASTER_ADDR")
    gpu = world.device.type == "cuda"
    with world._together():
        dist.init_process_group(
            "nccl" if gpu else "gloo",
            rank=world.rank,
            world_size=world.size,
            timeout=patience,
            device_id=world.device if gpu else None,
        )
        with socket.create_connection(meeting, patience.total_seconds()) as way:
            pulse = Pulse(way.getsockname()[0], way.family)  # the address that this machine has towards the others
        addresses = [pulse.address] * world.size
        dist.all_gather_object(addresses, pulse.address)
    pulse.meet(world.rank, addresses)
    return replace(world, pulse=pulse)


def leave() -> None:
    """Close what `join` opened."""
    if _joined:
        world = _joined.pop()
        if world.pulse:
            world.pulse.leave()
        dist.destroy_process_group()


def _number(variable: str, default: int) -> int:
    """What torchrun set a variable of the environment to.

    Raises:
        BadInput: it is no whole number from 0.
    """
    text = os.environ.get(variable, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadInput(f"the environment has {variable}={text[:40]!r}; torchrun sets it to a whole number")
    return int(text)
