from copy import deepcopy

import pytest
import torch
from torch import nn

from calque.pretrain.modules import WIDE, OneDNNLinear, use_onednn

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512",
    reason="the processor has no AVX-512",
)
LENGTH = 16


def gradients(layer, input):
    there = input.detach().requires_grad_()
    output = layer(there)
    output.sin().sum().backward()
    return [output.detach(), layer.weight.grad, None if layer.bias is None else layer.bias.grad, there.grad]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("shape", [(3, LENGTH, WIDE), (0, LENGTH, WIDE), (5, WIDE), (3, 7, WIDE)])
@pytest.mark.parametrize("turned", [False, True])
def test_outputs_and_gradients_are_torchs(bias, trained, shape, turned):
    input = torch.randn(shape[::-1] if turned else shape)
    input = input.permute(*range(input.ndim)[::-1]) if turned else input
    torch.manual_seed(0)
    theirs = nn.Linear(WIDE, 2 * WIDE, bias)
    theirs.weight.requires_grad_(trained)
    ours = deepcopy(theirs)
    use_onednn(ours, LENGTH)
    assert type(ours) is OneDNNLinear and list(ours.state_dict()) == list(theirs.state_dict())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        found = gradients(ours, input)
    assert any(event.key == "mkldnn::_linear_pointwise" for event in profile.key_averages()) == (
        input.shape[1:] == (LENGTH, WIDE)
    )
    for its, expected in zip(found, gradients(theirs, input), strict=True):
        assert (its is None) == (expected is None)
        if its is not None:
            torch.testing.assert_close(its, expected, rtol=1e-4, atol=1e-5)
