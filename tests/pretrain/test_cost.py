import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from calque.pretrain import cost
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import (
    PAIR,
    encoder_flops_per_id,
    flops_per_id,
    pair_flops_per_id,
    parameters,
    peak_flops,
    training_bytes,
)
from calque.pretrain.model import build, encode, prediction_loss
from calque.pretrain.objective import HeadOnly, Objective
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm_align import POINTER, XLMAlign


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


@pytest.mark.parametrize(("objective", "resting"), [(XLMAlign(), False), (HeadOnly(XLMAlign()), True)])
def test_the_operations_of_pairs_are_those_that_torch_counts(objective: Objective, resting: bool) -> None:
    """Every matrix product of the two passes on a small model is counted by torch itself, also with a resting encoder.

    The layer that labels lies as deep as the paper's: the second of three.
    """
    model = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=24, dropout=0.0)
    types, rows, labelling = 50, 4, 2
    learner = objective.learner(build(model, types), 0)
    ids = torch.randint(5, types, (rows, model.length))
    asked = torch.arange(rows * model.length).reshape(rows, model.length) % 4 == 0
    batch = Rows(ids, torch.where(asked, ids, UNLABELLED), torch.zeros_like(ids), False)
    half = model.length // 2  # as if all ids were of two sides of one length
    targets, real = torch.eye(half, dtype=torch.bool).expand(rows, -1, -1), torch.ones(rows, half, dtype=torch.bool)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        with torch.no_grad():
            encode(learner.model, batch, labelling)
        hidden = encode(learner.model, batch, model.layers)
        loss = prediction_loss(learner.model, batch, hidden, model.layers)
        (loss + learner.own[POINTER](hidden.split(half, 1), (real, real), (targets, targets))).backward()
    of_pairs = pair_flops_per_id(model, types, 0.25, model.length, labelling, resting) * ids.numel()
    assert counted.get_total_flops() == pytest.approx(of_pairs, rel=1e-9)
    assert objective.pair_flops(model, types, objective.traits.head_only) == pair_flops_per_id(
        model, types, 0.15, 24, labelling, resting
    )


def test_words_are_aligned_with_a_backward_pass_unless_the_encoder_rests() -> None:
    """Of a pair, both sides are encoded, and one of them again by the starting model: three passes over sides."""
    model = ModelConfig()
    side = encoder_flops_per_id(model, PAIR / 2) / 2
    resting, trained = (WordAligned().pair_flops(model, 50, rests) / side for rests in (True, False))
    assert (resting, trained) == (2 + 1, 2 * 3 + 1)


@pytest.mark.parametrize("objective", [MLM(), HeadOnly(MLM())], ids=lambda objective: objective.name)
def test_the_operations_of_text_are_those_that_torch_counts(objective: Objective) -> None:
    """As many labels a row, so that no query is padding; all but the layer that attends from labels alone is usual."""
    model = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=20, dropout=0.0)
    learner = objective.learner(build(model, 50), 0)
    ids = torch.randint(5, 50, (4, model.length))
    batch = Rows(ids, torch.where(torch.arange(model.length) < 3, ids, UNLABELLED), torch.zeros_like(ids), False)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        prediction_loss(learner.model, batch).backward()
    assert counted.get_total_flops() == pytest.approx(objective.flops(model, 50) * ids.numel(), rel=1e-9)


def test_the_operations_of_a_pass_are_those_that_torch_counts() -> None:
    model, length = ModelConfig(layers=3, heads=2, hidden=32, ffn=80, length=40), 24
    learner = MLM().learner(build(model, 50), 0)
    ids = torch.randint(5, 50, (4, length))
    batch = Rows(ids, torch.full_like(ids, UNLABELLED), torch.zeros_like(ids), False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        encode(learner.model, batch, model.layers)
    assert counted.get_total_flops() == pytest.approx(encoder_flops_per_id(model, length) * ids.numel(), rel=1e-9)


def test_pairs_without_labelling_cost_their_pass_and_what_the_head_and_the_pointer_take() -> None:
    """12 layers, 768, 3072, 250,002 types, pairs of 64 ids, worked out on paper."""
    base = ModelConfig(layers=12, heads=12, hidden=768, ffn=3072)
    layer = 6 * (4 * 768**2 + 2 * 768 * 3072) + 12 * 64 * 768
    assert layer == 43_057_152
    head, pointer = 0.15 * 1_155_548_160, 12 * 589_824 + 3 * 64 * 768
    assert pair_flops_per_id(base, 250_002, 0.15, 64, 0) == pytest.approx(12 * layer + head + pointer)
    assert pair_flops_per_id(base, 250_002, 0.15, 64, 10) == pytest.approx((12 + 10 / 3) * layer + head + pointer)


def test_the_memory_of_a_batch_worked_out_on_paper() -> None:
    """8 rows of 64 ids keep 2 (16 x 64 + 4 x 128) floats an id; 15 % of the 512 ids have three rows of 100 logits."""
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=64)
    assert training_bytes(model, 100, 0.15, card=False).of(8) == 4 * (4 * parameters(model, 100) + 1_572_864 + 23_040)


def test_logits_that_are_computed_in_pieces_take_no_more_memory() -> None:
    model = ModelConfig(layers=1, heads=1, hidden=1, ffn=1, length=64)
    types, rows = 250_000, 2**20 // 64
    without = training_bytes(model, types, 0.0, card=False).of(rows)
    assert training_bytes(model, types, 0.001, card=False).of(rows) == pytest.approx(
        without + 12 * 2**20 * 0.001 * types
    )
    assert training_bytes(model, types, 0.15, card=False).of(rows) == without + 12 * 2**30


def test_the_memory_of_a_card_worked_out_on_paper() -> None:
    """As above in bfloat16: 393,216 bytes of activations a row, and 12 for each of 100 logits at 15 % of the ids."""
    model = ModelConfig(layers=2, heads=2, hidden=64, ffn=128, length=64)
    card = training_bytes(model, 100, 0.15, card=True)
    assert card.of(0) == 16 * parameters(model, 100)
    assert card.of(8) == pytest.approx(16 * parameters(model, 100) + 8 * 2 * 64 * 2 * (16 * 64 + 4 * 128) + 92_160)
    held = replace(card, most=10_000)
    assert held.of(8) - held.of(7) == card.row and held.of(1) == card.of(0) + card.row + 10_000


def test_the_speed_is_that_of_the_best_of_nine_products_in_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an own time over threads, or of the time by the clock where that is less."""
    clock = [9.0, 8.0, 0.5, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0]
    own = [4.0, 4.0, 4.0, 0.5, 4.0, 4.0, 4.0, 4.0, 4.0]
    multiplied: list[int] = []

    def product(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        multiplied.append(a.shape[0] * a.shape[1] * b.shape[1])

    def reading(seconds: list[float]) -> Callable[[], float]:
        return lambda: sum(seconds[: len(multiplied)])

    monkeypatch.setattr(cost, "time", SimpleNamespace(perf_counter=reading(clock), process_time=reading(own)))
    monkeypatch.setattr(torch, "mm", product)
    for threads, least in ((1, 0.5), (2, 0.25)):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        multiplied.clear()
        assert cost.peak_flops.__wrapped__("cpu") == 2 * multiplied[0] / least
        assert len(multiplied) == 9


@pytest.mark.skipif(not Path("/proc/meminfo").is_file(), reason="only Linux has this file")
def test_the_memory_of_this_machine_is_what_the_system_says() -> None:
    total = re.search(r"MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text())
    assert total and cost.machine_bytes() == pytest.approx(1024 * int(total[1]), rel=0.1)


def test_this_machine_multiplies_and_tells_so_soon() -> None:
    before = time.process_time()
    assert 1e8 < peak_flops("cpu") < 1e15
    assert time.process_time() - before < 30  # a fraction of a second, and much more on the slowest machine
