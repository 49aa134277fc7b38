from copy import deepcopy

import pytest
import torch
from torch import nn

from calque.pretrain.batch import Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build, prediction_loss, state_of
from calque.pretrain.modules import Learner
from calque.pretrain.onednn import WIDE, OneDNNLinear, use_onednn

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512",
    reason="the processor has no AVX-512",
)
LENGTH = 16
MODEL = ModelConfig(layers=2, heads=4, hidden=WIDE, ffn=2 * WIDE, length=LENGTH, dropout=0.0)


def wide(bias=True):
    torch.manual_seed(0)
    layer = nn.Linear(WIDE, 2 * WIDE, bias)
    other = deepcopy(layer)
    use_onednn(other, LENGTH)
    assert type(other) is OneDNNLinear
    return layer, other


def gradients(layer, input):
    there = input.detach().requires_grad_()
    output = layer(there)
    output.sin().sum().backward()
    return [output.detach(), layer.weight.grad, None if layer.bias is None else layer.bias.grad, there.grad]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize(
    "shape", [(3, LENGTH, WIDE), (1, LENGTH, WIDE), (0, LENGTH, WIDE), (5, WIDE), (3, 7, WIDE)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_outputs_and_gradients_are_torchs(bias, trained, shape, turned):
    input = torch.randn(shape[::-1] if turned else shape)
    input = input.permute(*range(input.ndim)[::-1]) if turned else input
    theirs, ours = wide(bias)
    for layer in (theirs, ours):
        layer.weight.requires_grad_(trained)
    for its, expected in zip(gradients(ours, input), gradients(theirs, input), strict=True):
        assert (its is None) == (expected is None)
        if its is not None:
            torch.testing.assert_close(its, expected, rtol=1e-4, atol=1e-5)


def products(work):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    return sum(event.count for event in profile.key_averages() if event.key == "mkldnn::_linear_pointwise")


def test_onednn_keeps_loss_gradients_and_state():
    ids = torch.randint(5, WIDE, (4, LENGTH), generator=torch.Generator().manual_seed(0))
    rows = Rows(ids, torch.where(ids % 3 == 0, ids, -100), torch.zeros_like(ids), padded=False)

    def of(model):
        model.zero_grad()
        loss = prediction_loss(model, rows)
        loss.backward()
        return {"loss": loss.detach()} | {
            n: p.grad for n, p in model.named_parameters() if p.grad is not None
        }

    model = build(MODEL, WIDE)
    expected, names = of(model), list(state_of(model))
    use_onednn(Learner(model, {}), LENGTH)
    # All layers except the last, and its keys and values, are computed at all positions.
    assert products(lambda: of(model)) == 2 * (6 * (MODEL.layers - 1) + 2)
    assert list(state_of(model)) == names
    torch.testing.assert_close(of(model), expected, rtol=1e-4, atol=1e-4)
