"""Linear layers of wide models by oneDNN.

On AMD processors with AVX-512, oneDNN multiplies faster than MKL, torch's default, except for the weight's gradient.
`calque bench step` measures the gain.
"""

from typing import Any

import torch
from torch import Tensor, nn

WIDE = 128  # in narrower layers, preparing oneDNN for each new shape costs more than it saves


def use_onednn(model: nn.Module) -> None:
    """Change how a model's wide linear layers compute on a CPU with AVX-512; weights and their names stay the same."""
    if torch.backends.mkldnn.is_available() and torch.backends.cpu.get_cpu_capability() == "AVX512":
        for module in model.modules():
            if type(module) is nn.Linear and min(module.weight.shape) >= WIDE:
                module.__class__ = OneDNNLinear


class OneDNNLinear(nn.Linear):
    """A linear layer that uses oneDNN in float32 on a CPU."""

    def forward(self, input: Tensor) -> Tensor:
        if torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu") or not _by_onednn(input, self.weight):
            return super().forward(input)
        output: Tensor = _Product.apply(input, self.weight, self.bias)
        return output


def _by_onednn(*tensors: Tensor) -> bool:
    return all(tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(input, weight)
        return _product(input, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        input, weight = ctx.saved_tensors
        inputs, weights, biases = ctx.needs_input_grad
        flat = gradient.flatten(0, -2)
        return (
            _product(gradient, weight.t(), None) if inputs else None,
            flat.t() @ input.flatten(0, -2) if weights else None,
            flat.sum(0) if biases else None,
        )


def _product(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    # What torch.compile calls on a CPU; torch has no public name for it.
    product: Tensor = torch.ops.mkldnn._linear_pointwise(input, weight, bias, "none", [], "")
    return product
