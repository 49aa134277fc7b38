"""Torch, imported on first use, because importing it takes seconds."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from calque.derive.lazy import Lazy

__all__ = ["F", "Optimizer", "Tensor", "inference_mode", "nn", "no_grad", "tensor_files", "torch"]

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


def _within(context: str) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        @wraps(function)
        def wrapped(*values: Any, **named: Any) -> Any:
            return getattr(torch, context)()(function)(*values, **named)

        return wrapped  # type: ignore[return-value]

    return decorate


no_grad, inference_mode = _within("no_grad"), _within("inference_mode")
"""`torch.no_grad()` and `torch.inference_mode()` as decorators for functions and generators."""
