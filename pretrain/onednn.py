"""Linear layers that use oneDNN, which is faster than MKL (torch's default) on AMD processors with AVX-512,
except for the gradients of weights."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

WIDE = 128  # narrower layers are not faster


def use_onednn(module: nn.Module, length: int) -> None:
    """Make a module's wide linear layers use oneDNN for rows of `length` ids if the CPU supports AVX-512."""
    if torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512":
        for layer in module.modules():
            if type(layer) is nn.Linear and min(layer.weight.shape) >= WIDE:
                layer.__class__ = OneDNNLinear
                assert isinstance(layer, OneDNNLinear)
                layer.length = length


class OneDNNLinear(nn.Linear):
    """A linear layer that uses oneDNN for float32 inputs of shape (B, `length`, H) on a CPU. Other shapes
    change from step to step, and oneDNN needs time and memory for each new shape."""

    length: int

    def forward(self, input: Tensor) -> Tensor:
        if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu") or not self._fits(input):
            return super().forward(input)
        output: Tensor = _Product.apply(input, self.weight, self.bias)
        return output

    def _fits(self, input: Tensor) -> bool:
        for tensor in (input, self.weight):
            if tensor.device.type != "cpu" or tensor.dtype != torch.float32:
                return False
        return input.ndim == 3 and input.shape[1] == self.length


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(input if ctx.needs_input_grad[1] else None, weight)
        return _product(input, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        input, weight = ctx.saved_tensors
        inputs, weights, biases = ctx.needs_input_grad
        flat = gradient.flatten(0, 1)
        return (
            _product(gradient, weight.t(), None) if inputs else None,
            flat.t() @ input.flatten(0, 1) if weights else None,
            flat.sum(0) if biases else None,
        )


def _product(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(input, weight, bias, "none", [], "")
    return product
