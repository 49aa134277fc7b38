"""Training one model in several processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from calque.derive.errors import BadInput, shown
from calque.pretrain.lazy import Lazy, Tensor, nn, torch

if TYPE_CHECKING:
    import torch.distributed as dist
else:
    dist = Lazy("torch.distributed")

PATIENCE = timedelta(minutes=10)  # to wait for a message; the first process may save or probe a large model


class Lost(RuntimeError):
    """Another process has exited or stopped responding."""


@dataclass(frozen=True)
class World:
    """One of `size` training processes. All must call its methods in the same order; these raise `Lost` if
    another process no longer responds."""

    rank: int
    size: int
    device: torch.device
    store: Any = field(default=None, compare=False)

    @property
    def first(self) -> bool:
        return self.rank == 0

    @property
    def machine(self) -> dict[str, Any]:
        """What can change a result's last digits."""
        return {
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "device": self.device.type,
            "instructions": torch.backends.cpu.get_cpu_capability(),
        }

    def add(self, numbers: Tensor) -> Tensor:
        """Sum a tensor over all processes, in place."""
        if self.size > 1:
            with self._joint():
                dist.all_reduce(numbers)
        return numbers

    def gather(self, rows: Tensor) -> Tensor:
        """Concatenate all processes' rows, (N, ...), by rank; N may differ."""
        if self.size == 1:
            return rows
        counts = torch.zeros(self.size, dtype=torch.long, device=rows.device)
        counts[self.rank] = len(rows)
        sizes = self.add(counts).tolist()
        first = sum(sizes[: self.rank])
        gathered = rows.new_zeros(sum(sizes), *rows.shape[1:])
        gathered[first : first + len(rows)] = rows
        return self.add(gathered)

    def wait(self) -> None:
        if self.size > 1:
            with self._joint():
                dist.barrier()

    def check(self) -> None:
        """Raise `Lost` if the store's host, torchrun or the first process, is lost."""
        if self.store:
            with self._joint():
                self.store.check(["alive"])

    @contextmanager
    def _joint(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise Lost(f"rank {self.rank} cannot continue: one of {self.size} processes is lost") from error


def add_gradients(parameters: Sequence[nn.Parameter], world: World) -> None:
    """Replace gradients with dense sums over all processes; a single message makes reruns bit-identical."""
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:  # unused in this step
            parameter.grad = torch.zeros_like(parameter)
        elif parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()
        gradients.append(parameter.grad)
    if world.size > 1:
        totals = world.add(torch.cat([gradient.flatten() for gradient in gradients]))
        sizes = [gradient.numel() for gradient in gradients]
        for gradient, total in zip(gradients, totals.split(sizes), strict=True):
            gradient.copy_(total.view_as(gradient))


_joined: list[World] = []


def join(patience: timedelta = PATIENCE) -> World:
    """Join torchrun's processes, or return one process's world. Raises BadInput for invalid ones."""
    if _joined:
        return _joined[0]
    gpu, device = torch.cuda.is_available(), torch.device("cpu")
    names = "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT"
    numbers = {name: os.environ.get(name, "0") for name in names}
    for name, text in numbers.items():
        if not (text.isascii() and text.isdigit()):
            raise BadInput(f"{name} must be a whole number, as set by torchrun, not {shown(text)}")
    rank, size, local, _ = map(int, numbers.values())
    if gpu:
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    world = World(rank, max(1, size), device)
    if world.size == 1:
        return world
    try:
        with world._joint():
            store, _, _ = next(dist.rendezvous("env://", timeout=patience))
    except ValueError as error:
        raise BadInput(f"{error}; start the processes with torchrun") from error
    settings = {"store": store, "rank": rank, "world_size": size, "timeout": patience}
    with world._joint():
        dist.init_process_group("nccl" if gpu else "gloo", device_id=device if gpu else None, **settings)
    _joined.append(replace(world, store=store))
    return _joined[0]


def leave() -> None:
    """Leave the process group, if `join` joined one."""
    if _joined:
        _joined.clear()
        dist.destroy_process_group()
