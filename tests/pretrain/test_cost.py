import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import encoder_flops_per_id, flops_per_id, parameters, training_bytes
from calque.pretrain.model import build, encode, prediction_loss
from calque.pretrain.objectives.mlm import MLM


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 8), st.integers(1, 40), st.integers(8, 64))
def test_parameters_are_counted_right(layers, heads, width, ffn, length):
    config = ModelConfig(layers=layers, heads=heads, hidden=heads * width, ffn=ffn, length=length)
    model = build(config, 50)
    assert sum(p.numel() for p in model.parameters()) == parameters(config, 50)


def test_operations_of_text_equal_torchs_count():
    """As many labels a row, so that no query is padding; all but the layer that attends from labels alone is
    usual.
    """
    model = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=20, dropout=0.0)
    learner = MLM().learner(build(model, 50), 0)
    ids = torch.randint(5, 50, (4, model.length))
    batch = Rows(
        ids, torch.where(torch.arange(model.length) < 3, ids, UNLABELLED), torch.zeros_like(ids), False
    )
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        prediction_loss(learner.model, batch).backward()
    assert counted.get_total_flops() == pytest.approx(flops_per_id(model, 50, 3 / 20) * ids.numel(), rel=1e-9)


def test_memory_by_hand():
    """8 rows of 64 ids keep 2 (16 x 64 + 4 x 128) numbers per id, of 4 bytes or, on a GPU, 2; 15 % of the 512
    ids have 100 logits of 12 bytes."""
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=64)
    fixed = training_bytes(model, 100, 0.15, False, 0)
    assert fixed == 16 * parameters(model, 100)
    for card, size in ((False, 4), (True, 2)):
        expected = fixed + size * 8 * 64 * 2 * (16 * 64 + 4 * 128) + 92_160
        assert training_bytes(model, 100, 0.15, card, 8) == pytest.approx(expected)
    more = [training_bytes(model, 2**31, 1.0, True, rows) for rows in (1, 2)]  # logits in pieces
    assert more[1] - more[0] == 2 * 64 * 2 * (16 * 64 + 4 * 128)


def test_operations_of_a_pass_equal_torchs_count():
    model = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=24, dropout=0.0)
    ids = torch.randint(5, 50, (4, 24))
    rows = Rows(ids, torch.full_like(ids, UNLABELLED), torch.zeros_like(ids), False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        encode(build(model, 50), rows, 3)
    assert counted.get_total_flops() == pytest.approx(encoder_flops_per_id(model, 24) * ids.numel(), rel=1e-9)
