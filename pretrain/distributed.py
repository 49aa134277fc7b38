"""Several processes as one, and which of them are still there: the only file that touches torch.distributed."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from derive.errors import BadInput

PATIENCE = timedelta(minutes=10)
"""For how long a process waits for a message of the others: the first one may be saving or measuring a large model."""
ABSENT = 120.0
"""Seconds without an answer after which a process that no message is awaited from counts as lost."""
SOON = 5.0
"""Seconds within which a process answers that can; one that was killed is missed at once."""
AT_ONCE = 1.0
"""Seconds that a connection may be silent: one that says nothing must not cost another its answer."""
QUESTION, HERE, LEFT, LOST = "are you there", "here", "left", "lost"
MISSED = "a message between processes was lost"
ROOM = 64
"""Bytes of a question or an answer at most."""

Address = tuple[str, int]


class Heartbeat:
    """Answers other processes, in a thread of its own, until it leaves.

    `host` is where they reach this one. A process may ask or leave; nothing else is read.
    """

    def __init__(self, host: str, family: int = socket.AF_INET) -> None:
        self._server = socket.create_server((host, 0), family=family)
        self.address: Address = self._server.getsockname()[:2]
        self._rank, self._others = 0, dict[int, Address]()
        self._left: set[int] = set()
        threading.Thread(target=self._answer, daemon=True).start()

    def meet(self, rank: int, addresses: Sequence[Address]) -> None:
        """Learn the addresses of all processes by rank, this one's being `rank`."""
        self._rank = rank
        self._others = {other: address for other, address in enumerate(addresses) if other != rank}

    def ask(self, rank: int, seconds: float = SOON) -> str:
        """Whether another process is `HERE`, has `LEFT` or is `LOST`: gives no answer for some seconds."""
        if rank in self._left:
            return LEFT
        try:
            return HERE if _say(self._others[rank], QUESTION, seconds) == HERE else LOST
        except OSError:  # it refuses, or is silent
            return LOST

    def lost(self) -> str:
        """Who is lost, or has left, in words; takes some seconds for each process that is there and does not answer."""
        found = {rank: self.ask(rank) for rank in self._others}
        gone = []
        for state, words in ((LOST, "lost"), (LEFT, "gone after an error")):
            if ranks := [rank for rank, other in found.items() if other == state]:
                gone.append(f"{_ranks(ranks)} {words}")
        return f"of {len(found) + 1} processes, {' and '.join(gone)}" if gone else MISSED

    def leave(self) -> None:
        for address in self._others.values():
            with suppress(OSError):
                _say(address, f"{LEFT} {self._rank}", SOON)
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        self._server.close()

    def _answer(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
                with connection:
                    connection.settimeout(AT_ONCE)
                    message, _, rank = connection.recv(ROOM).decode("ascii", "replace").partition(" ")
                    if message == LEFT and rank.isdecimal():
                        self._left.add(int(rank))
                    connection.sendall(HERE.encode())
            except OSError:
                if self._server.fileno() < 0:
                    return  # this process has left


def _say(address: Address, text: str, seconds: float) -> str:
    with socket.create_connection(address, SOON) as connection:
        connection.settimeout(seconds)
        connection.sendall(text.encode())
        return connection.recv(ROOM).decode("ascii", "replace")


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]} is" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} are"


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
    heartbeat: Heartbeat | None = field(default=None, compare=False, repr=False)

    @property
    def first(self) -> bool:
        return self.rank == 0

    def add(self, numbers: Tensor) -> Tensor:
        """The sum of a small tensor over all processes."""
        self.begin_adding(numbers)()
        return numbers

    def begin_adding(self, numbers: Tensor) -> Callable[[], None]:
        """Begin to sum a tensor over all processes, in place; the sum is there after a call of what is returned."""
        if self.size == 1:
            return lambda: None
        with self._joint():
            work = dist.all_reduce(numbers, async_op=True)

        def done() -> None:
            with self._joint():
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
        with self._joint():
            dist.all_gather(gathered, padded)
        return torch.cat([piece[:size] for piece, size in zip(gathered, sizes, strict=True)])

    def wait(self) -> None:
        if self.size > 1:
            with self._joint():
                dist.barrier()

    def expect(self, rank: int) -> None:
        """Make sure that another process is there, whose work takes longer than a message may be waited for."""
        if self.heartbeat:
            state = self.heartbeat.ask(rank, ABSENT)
            if state in (LEFT, LOST):
                raise Lost(f"rank {rank} is {'lost' if state == LOST else 'gone after an error'}")

    @contextmanager
    def _joint(self) -> Iterator[None]:
        """Say who is lost when a message to the others fails."""
        try:
            yield
        except RuntimeError as error:
            who = self.heartbeat.lost() if self.heartbeat else MISSED
            message = re.sub(r"\[/\S+\] ", "", " ".join(str(error).split()))[:100]  # without the line of C++
            raise Lost(f"{who}; rank {self.rank} cannot go on alone ({message})") from error


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
    with world._joint():
        dist.init_process_group(
            "nccl" if gpu else "gloo",
            rank=world.rank,
            world_size=world.size,
            timeout=patience,
            device_id=world.device if gpu else None,
        )
        with socket.create_connection(meeting, patience.total_seconds()) as way:
            heartbeat = Heartbeat(
                way.getsockname()[0], way.family
            )  # the address that this machine has towards the others
        addresses = [heartbeat.address] * world.size
        dist.all_gather_object(addresses, heartbeat.address)
    heartbeat.meet(world.rank, addresses)
    return replace(world, heartbeat=heartbeat)


def leave() -> None:
    """Leave the group of processes that `join` joined, if any."""
    if _joined:
        world = _joined.pop()
        if world.heartbeat:
            world.heartbeat.leave()
        dist.destroy_process_group()


def _number(variable: str, default: int) -> int:
    """What torchrun set a variable of the environment to."""
    text = os.environ.get(variable, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadInput(f"the environment has {variable}={text[:40]!r}; torchrun sets it to a whole number")
    return int(text)
