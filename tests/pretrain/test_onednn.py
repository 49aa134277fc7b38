from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from calque.pretrain.batch import Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import Learner, build, prediction_loss, state_of
from calque.pretrain.onednn import WIDE, OneDNNLinear, use_onednn

pytestmark = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512",
    reason="the processor has no AVX-512",
)
MODEL = ModelConfig(layers=2, heads=4, hidden=WIDE, ffn=2 * WIDE, length=16, dropout=0.0)


def gradients(layer: nn.Linear, call: Callable[[nn.Linear, Tensor], Tensor], input: Tensor) -> list[Tensor | None]:
    """The output, and the gradients of weight, bias and input."""
    layer.zero_grad()
    there = input.detach().requires_grad_(input.requires_grad)
    output = call(layer, there)
    (output.sin().sum()).backward()
    return [output.detach(), layer.weight.grad, None if layer.bias is None else layer.bias.grad, there.grad]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("shape", [(3, 7, WIDE), (5, WIDE), (1, WIDE), (0, WIDE), (2, 3, 4, WIDE)])
@pytest.mark.parametrize("turned", [False, True])
def test_outputs_and_gradients_are_torchs(bias: bool, trained: bool, shape: tuple[int, ...], turned: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(WIDE, 2 * WIDE, bias)
    layer.weight.requires_grad_(trained)
    input = torch.randn(shape[::-1] if turned else shape)
    input = (input.permute(*range(input.ndim)[::-1]) if turned else input).requires_grad_()
    expected = gradients(layer, nn.Linear.forward, input)
    use_onednn(layer)
    assert type(layer) is OneDNNLinear
    for ours, theirs in zip(gradients(layer, OneDNNLinear.forward, input), expected, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_learner_has_the_loss_the_gradients_and_the_state_of_its_model() -> None:
    ids = torch.randint(5, WIDE, (4, 16), generator=torch.Generator().manual_seed(0))
    rows = Rows(ids, ids, torch.zeros_like(ids), padded=False)

    def of(model: nn.Module) -> dict[str, Tensor]:
        model.zero_grad()
        loss = prediction_loss(model, rows)
        loss.backward()
        return {"loss": loss.detach()} | {n: p.grad for n, p in model.named_parameters() if p.grad is not None}

    model = build(MODEL, WIDE)
    expected, names = of(model), list(state_of(model))
    learner = Learner(model, {})
    # The tied output table is a linear layer too.
    assert sum(type(each) is OneDNNLinear for each in learner.modules()) == 6 * MODEL.layers + 2
    assert list(state_of(model)) == names
    torch.testing.assert_close(of(model), expected, rtol=1e-4, atol=1e-4)


def test_other_number_formats_and_narrow_layers_stay_with_torch() -> None:
    narrow, wide = nn.Linear(WIDE, WIDE - 1), nn.Linear(WIDE, WIDE).double()
    use_onednn(narrow)
    use_onednn(wide)
    assert type(narrow) is nn.Linear
    assert wide(torch.ones(2, WIDE, dtype=torch.double)).dtype == torch.double
    mixed = nn.Linear(WIDE, WIDE)
    use_onednn(mixed)
    with torch.autocast("cpu", torch.bfloat16):
        assert mixed(torch.ones(2, WIDE)).dtype == torch.bfloat16
