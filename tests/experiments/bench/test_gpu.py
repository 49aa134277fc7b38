"""The benchmark for a GPU, on the CPU with a small model: both sides train, and the shares are of what they compute."""

import pytest
import torch

from calque.experiments.bench.gpu import WARM, Size, difference, utilisation
from calque.pretrain.config import ModelConfig


def test_both_sides_train_and_have_a_share_of_the_peak() -> None:
    pytest.importorskip("accelerate", reason="transformers' Trainer needs accelerate: pip install 'calque[bench]'")
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=32)
    size, cpu = Size("a small model", model, 400, 8, WARM + 4), torch.device("cpu")
    measured = utilisation(size, cpu, 2, difference(size, cpu), bf16=True)
    assert len(measured.ours) == len(measured.theirs) == 2
    assert all(0 < share < 100 for share in (*measured.ours, *measured.theirs))
