"""Estimates of a run's cost (parameters, floating-point operations, memory) and of a machine's capacity.

H hidden, F feed-forward, L layers, S ids per row, V types.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache

from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.model import LOGITS

PAIR = 64  # the assumed number of ids in a sentence pair
UPDATE = 1e9  # additional operations per update, even of small models: kernels and the optimizer


def parameters(model: ModelConfig, types: int) -> int:
    """Parameters of a RoBERTa with tied embeddings and `types` rows, without language embeddings."""
    h, f = model.hidden, model.ffn
    layer = 4 * (h * h + h) + (h * f + f) + (f * h + h) + 4 * h
    embeddings = (types + model.length + 2 + 1) * h + 2 * h
    head = (h * h + h) + 2 * h + types
    return embeddings + model.layers * layer + head


def flops_per_id(model: ModelConfig, types: int, at_head: float, frozen: bool = False) -> float:
    """Training operations per id of text: 6 L (4 H^2 + 2 H F) + 12 L S H + 6 (H^2 + H V), if all ids have a
    label. If only a share `at_head` has a label, the head and the last layer, except its keys and values,
    cost that share. `frozen`: the encoder is frozen, so layers cost one pass instead of three, and the head
    two."""
    h, ffn = model.hidden, model.ffn
    keys, rest = 6 * 2 * h * h, 6 * (2 * h * h + 2 * h * ffn) + 12 * model.length * h
    layers = (model.layers - 1) * (keys + rest) + keys + at_head * rest
    return layers / (3 if frozen else 1) + at_head * _head_flops(model, types, frozen)


def pair_flops_per_id(
    model: ModelConfig,
    types: int,
    at_head: float,
    passes: float,
    frozen: bool = False,
) -> float:
    """Training operations per id of sentence pairs, one pair per row: `passes` through all layers (a backward
    pass counts as two), and the head at a share `at_head` of the ids."""
    encoder = passes * encoder_flops_per_id(model, min(PAIR, model.length))
    return encoder + at_head * _head_flops(model, types, frozen)


def encoder_flops_per_id(model: ModelConfig, length: float) -> float:
    """Operations of one pass through all layers, per id of a row of `length`."""
    h, ffn = model.hidden, model.ffn
    return model.layers * (2 * (4 * h * h + 2 * h * ffn) + 4 * length * h)


def _head_flops(model: ModelConfig, types: int, frozen: bool) -> float:
    return (4 if frozen else 6) * (model.hidden**2 + model.hidden * types)


@dataclass(frozen=True)
class TrainingBytes:
    """Bytes that training takes: `fixed`, and per row of a micro-batch `row` of activations and `logits`. A loss holds
    at most `most` bytes of logits at a time."""

    fixed: float
    row: float
    logits: float
    most: float

    def of(self, rows: int) -> float:
        """Peak bytes with this number of rows in a micro-batch."""
        return self.fixed + rows * self.row + min(rows * self.logits, self.most)


def training_bytes(model: ModelConfig, types: int, at_head: float, card: bool) -> TrainingBytes:
    """Weights, gradients and two moments; 16 H + 4 F activations per id and layer; 12 bytes per logit.
    Activations are float32, or bfloat16 on a card. A logit exists three times in float32 (logit, softmax,
    gradient); on a card, logit and gradient exist in both precisions."""
    activations = (2 if card else 4) * model.length * model.layers * (16 * model.hidden + 4 * model.ffn)
    logits = 12 * at_head * model.length * types
    return TrainingBytes(16 * parameters(model, types), activations, logits, 12 * max(types, LOGITS))


def machine_bytes() -> int:
    """Bytes of this machine's main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def peak_flops(device: str) -> float:
    """The speed of this machine's matrix products in operations per second, measured once in a fraction of a
    second, in float32 on a CPU and bfloat16 on a GPU, as in training. On a shared CPU, only this process's
    time counts."""
    gpu = device == "cuda"
    size = 8192 if gpu else 1024
    a = torch.randn(size, size, device=device, dtype=torch.bfloat16 if gpu else torch.float32)
    best, out = 0.0, torch.empty_like(a)
    for _ in range(9):  # the first one warms up
        start, own = time.perf_counter(), time.process_time()
        torch.mm(a, a, out=out)
        if gpu:
            torch.cuda.synchronize()
        seconds, own = time.perf_counter() - start, time.process_time() - own
        best = max(best, 2 * size**3 / (seconds if gpu else min(seconds, own / torch.get_num_threads())))
    return best
