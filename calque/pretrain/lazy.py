"""Libraries that are slow to import, such as torch, and are therefore imported on first use."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["F", "Optimizer", "Tensor", "inference_mode", "nn", "tensor_files", "torch"]


class Lazy:
    """A module that is imported when one of its attributes is first accessed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


special: Any = Lazy("scipy.special")
stats: Any = Lazy("scipy.stats")


if TYPE_CHECKING:
    import torch
    from safetensors import torch as tensor_files
    from torch import Tensor, nn
    from torch.nn import functional as F
    from torch.optim import Optimizer
else:
    torch, nn, F = map(Lazy, ("torch", "torch.nn", "torch.nn.functional"))
    tensor_files = Lazy("safetensors.torch")
    Tensor = Optimizer = "a class of torch, for annotations"

Function = TypeVar("Function", bound=Callable[..., Any])


def inference_mode(function: Function) -> Function:
    """`torch.inference_mode()` as a decorator for functions and generators."""

    @wraps(function)
    def wrapped(*values: Any, **named: Any) -> Any:
        return torch.inference_mode()(function)(*values, **named)

    return wrapped  # type: ignore[return-value]
