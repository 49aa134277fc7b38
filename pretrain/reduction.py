"""Gradients summed over all processes while the backward pass still computes others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import nn

from pretrain.batch import Batch
from pretrain.distributed import World
from pretrain.model import Learner
from pretrain.objective import Stream

LARGE = 1 << 20
"""Bytes from which on a gradient is summed where it lies; smaller ones are put together."""
MESSAGE = 4 << 20
"""Bytes of small gradients that go together at most."""


class Reduction:
    """The sum over all processes of every gradient of a step.

    Gradients go in messages whose contents and order are the same in every step and process, so a rerun has the same
    bits. Messages begin with the parameters that were made last, which a backward pass reaches first. One is sent as
    soon as nothing can be added to its gradients: when the last micro-batch whose stream reaches them has been there,
    or has ended without.
    """

    def __init__(self, learner: Learner, world: World) -> None:
        self.learner, self.world = learner, world
        self.parameters = list(learner.trained.values())
        self.messages = _messages(self.parameters[::-1])
        self._reached: dict[Stream, list[nn.Parameter]] = {}

    def through(self, parts: Sequence[tuple[Stream, Batch]]) -> Iterator[tuple[Stream, Batch]]:
        """This process's micro-batches one by one; whoever asks for the next has added the gradient of the last.

        After them every parameter has a dense gradient, also where a process or a whole step had no rows for it: the
        sum over all processes.

        Raises:
            RuntimeError: a gradient for a parameter that a stream does not say it reaches.
        """
        if self.world.size == 1:
            yield from parts
            _complete(self.parameters)
            return
        sending = _Sending(self, [self._reached_by(stream) for stream, _ in parts])
        hooks = [p.register_post_accumulate_grad_hook(sending.reached) for p in self.parameters]
        try:
            for part in parts:
                yield part
                sending.passed()
            sending.wait()
        finally:
            for hook in hooks:
                hook.remove()

    def _reached_by(self, stream: Stream) -> list[nn.Parameter]:
        if stream not in self._reached:
            self._reached[stream] = list(stream.reaches(self.learner))
        return self._reached[stream]


class _Sending:
    """The messages of one step. `reached` are the parameters that each backward pass may reach."""

    def __init__(self, reduction: Reduction, reached: Sequence[list[nn.Parameter]]) -> None:
        self.world, self.ahead = reduction.world, deque(reduction.messages)
        self.under_way: list[Callable[[], None]] = []
        self.number, self.last = 0, dict.fromkeys(reduction.parameters, -1)
        for number, parameters in enumerate(reached):
            self.last |= dict.fromkeys(parameters, number)
        self.complete = {p for p, last in self.last.items() if last < 0}
        self._send()

    def reached(self, parameter: nn.Parameter) -> None:
        if self.last[parameter] < self.number:
            raise RuntimeError(f"a gradient of shape {tuple(parameter.shape)} that its stream does not say it reaches")
        if self.last[parameter] == self.number:
            self.complete.add(parameter)
            self._send()

    def passed(self) -> None:
        """A backward pass has ended: what it has not reached, it does not reach."""
        self.complete |= {p for p, last in self.last.items() if last == self.number}
        self.number += 1
        self._send()

    def wait(self) -> None:
        for done in self.under_way:
            done()

    def _send(self) -> None:
        while self.ahead and all(p in self.complete for p in self.ahead[0]):
            self.under_way.append(self.world.begin_adding(_in_one(self.ahead.popleft())))


def _messages(parameters: Iterable[nn.Parameter]) -> list[list[nn.Parameter]]:
    """Parameters in their order: large ones alone, neighbouring small ones together."""
    messages: list[list[nn.Parameter]] = []
    room = 0
    for parameter in parameters:
        size = parameter.numel() * parameter.element_size()
        if size >= LARGE or size > room:
            messages.append([])
            room = MESSAGE
        messages[-1].append(parameter)
        room = 0 if size >= LARGE else room - size
    return messages


def _in_one(parameters: Sequence[nn.Parameter]) -> torch.Tensor:
    """The gradients of some parameters as one tensor, in which they lie from now on."""
    _complete(parameters)
    gradients = [p.grad for p in parameters if p.grad is not None]
    if len(gradients) == 1:
        return gradients[0]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    for parameter, piece in zip(parameters, flat.split([g.numel() for g in gradients]), strict=True):
        parameter.grad = piece.view_as(parameter)
    return flat


def _complete(parameters: Iterable[nn.Parameter]) -> None:
    """Give parameters a dense gradient, where they have a sparse one or none."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        elif parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()
