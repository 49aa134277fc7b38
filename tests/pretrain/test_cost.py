import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pretrain.config import ModelConfig
from pretrain.cost import flops_per_id, parameters, peak_flops, training_bytes
from pretrain.model import build


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 8), st.integers(1, 40), st.integers(8, 64))
def test_parameters_are_counted_right(layers: int, heads: int, width: int, ffn: int, length: int) -> None:
    config = ModelConfig(layers=layers, heads=heads, hidden=heads * width, ffn=ffn, length=length)
    model = build(config, 50)
    assert sum(p.numel() for p in model.parameters()) == parameters(config, 50)


def test_the_papers_operations() -> None:
    """8 layers, 512, 2048, 80,000 types at length 512, worked out on paper."""
    model = ModelConfig()
    assert flops_per_id(model, 80_000, 1.0) == pytest.approx(423.5e6, rel=1e-3)
    last_layer = 0.85 * (6 * (2 * 512**2 + 2 * 512 * 2048) + 12 * 512 * 512)
    assert flops_per_id(model, 80_000, 0.15) == pytest.approx(213.3e6 - last_layer, rel=1e-3)


def test_memory_grows_with_rows_and_starts_at_four_copies_of_the_weights() -> None:
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=64)
    assert training_bytes(model, 100, 0, 0.15) == 16 * parameters(model, 100)
    assert training_bytes(model, 100, 8, 0.15) > training_bytes(model, 100, 4, 0.15)


def test_the_memory_of_a_batch_worked_out_on_paper() -> None:
    """8 rows of 64 ids keep 2 (16 x 64 + 4 x 128) floats an id; 76 of the 512 ids have three rows of 100 logits."""
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=64)
    assert training_bytes(model, 100, 8, 0.15) == 4 * (4 * parameters(model, 100) + 1_572_864 + 22_800)


def test_this_machine_multiplies_and_tells_so_soon() -> None:
    before = time.process_time()
    assert 1e8 < peak_flops("cpu") < 1e15
    assert time.process_time() - before < 30  # a fraction of a second, and much more on the slowest machine
