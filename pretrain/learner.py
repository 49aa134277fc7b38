"""The modules that are trained: a model, and those of its objective."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


class Learner(nn.Module):
    """A masked language model with its objective's own modules.

    Attributes:
        model: the transformers model; the weights of a checkpoint are its alone.
        own: the objective's modules by name.
    """

    def __init__(self, model: Any, own: dict[str, nn.Module]) -> None:
        super().__init__()
        self.model = model
        self.own = nn.ModuleDict(own)

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        """The parameters that a gradient changes, by name, each once however many modules share it."""
        return {name: parameter for name, parameter in self.named_parameters() if parameter.requires_grad}

    @property
    def state(self) -> dict[str, Tensor]:
        """Every parameter and every persistent buffer by name, each once: all that a resumed run restores."""
        return state_of(self)


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """Every parameter and every persistent buffer of a module by name, each once, under the first of its names."""
    seen: set[int] = set()
    state = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            state[name] = tensor.detach()
    return state
