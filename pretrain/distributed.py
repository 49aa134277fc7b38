"""Several processes as one: the only file that touches torch.distributed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from derive.errors import BadInput


@dataclass(frozen=True)
class World:
    """This process among `size` of them, and the device that it computes on."""

    rank: int
    size: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.rank == 0

    def add(self, numbers: Tensor) -> Tensor:
        """The sum of a small tensor over all processes."""
        if self.size > 1:
            dist.all_reduce(numbers)
        return numbers

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
        dist.all_gather(gathered, padded)
        return torch.cat([piece[:size] for piece, size in zip(gathered, sizes, strict=True)])

    def add_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Sum gradients over all processes, in place, as one message; every process has one a parameter, dense."""
        if self.size == 1:
            return
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, piece in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(piece.view_as(gradient))

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            dist.barrier()


ALONE = World(0, 1, torch.device("cpu"))


def join() -> World:
    """The world that torchrun made, over nccl on GPUs and gloo on CPUs; without torchrun, one process."""
    rank, size = _number("RANK", 0), _number("WORLD_SIZE", 1)
    gpu = torch.cuda.is_available()
    local = _number("LOCAL_RANK", 0)
    device = torch.device("cuda", local) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    if size > 1 and not dist.is_initialized():
        backend = "nccl" if gpu else "gloo"
        dist.init_process_group(backend, rank=rank, world_size=size, device_id=device if gpu else None)
    return World(rank, size, device)


def leave() -> None:
    """Close what `join` opened."""
    if dist.is_initialized():
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
