"""Torch, imported at its first use, because the import takes seconds and a study's values do not need it."""

from __future__ import annotations

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


def no_grad(function: Function) -> Function:
    """`torch.no_grad()` as a decorator."""

    @wraps(function)
    def wrapped(*values: Any, **named: Any) -> Any:
        return torch.no_grad()(function)(*values, **named)

    return wrapped  # type: ignore[return-value]


def inference_mode(function: Function) -> Function:
    """`torch.inference_mode()` as a decorator, also of generators."""

    @wraps(function)
    def wrapped(*values: Any, **named: Any) -> Any:
        return torch.inference_mode()(function)(*values, **named)

    return wrapped  # type: ignore[return-value]
