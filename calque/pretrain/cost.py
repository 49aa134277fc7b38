"""Estimates of a run's cost and a machine's capacity.

Symbols: hidden size H, feed-forward size F, L layers, S ids per row, V types.
"""

import os
import time
from functools import cache

from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.model import LOGITS

EFFICIENCY = 0.4  # the fraction of the peak matrix-product rate that training is assumed to reach
UPDATE = 1e9  # overhead per update (kernel launches and the optimizer), in operations


def parameters(model: ModelConfig, types: int) -> int:
    """Count the parameters of a RoBERTa model with `types` tied embedding rows and no language embeddings."""
    h, f = model.hidden, model.ffn
    layer = 4 * (h * h + h) + (h * f + f) + (f * h + h) + 4 * h
    embeddings = (types + model.length + 2 + 1) * h + 2 * h
    head = (h * h + h) + 2 * h + types
    return embeddings + model.layers * layer + head


def flops_per_id(model: ModelConfig, types: int, at_head: float) -> float:
    """Estimate training operations per id: 6 L (4 H^2 + 2 H F) + 12 L S H + 6 (H^2 + H V), except that the
    head and most of the last layer process only a fraction `at_head` of the ids, the labelled ones."""
    h, layer = model.hidden, 3 * encoder_flops_per_id(model, model.length) / model.layers
    keys = 12 * h * h
    return (model.layers - 1) * layer + keys + at_head * (layer - keys + 6 * (h * h + h * types))


def encoder_flops_per_id(model: ModelConfig, length: float) -> float:
    """Return the operations per id for one pass of a row of `length` ids through all layers."""
    h, ffn = model.hidden, model.ffn
    return model.layers * (2 * (4 * h * h + 2 * h * ffn) + 4 * length * h)


def training_bytes(model: ModelConfig, types: int, at_head: float, card: bool, rows: int) -> float:
    """Estimate the peak memory for micro-batches of `rows` rows, in bytes: weights, gradients and AdamW's two
    moments; 16 H + 4 F activations per id and layer, in float32 or, on a GPU (`card`), bfloat16; and up to
    LOGITS logits, at 12 bytes each."""
    ids = rows * model.length
    activations = (2 if card else 4) * ids * model.layers * (16 * model.hidden + 4 * model.ffn)
    logits = min(at_head * ids * types, max(types, LOGITS))
    return 16 * parameters(model, types) + activations + 12 * logits


def machine_bytes() -> int:
    """Return the size of main memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def peak_flops(device: str) -> float:
    """Measure matrix products per second, in operations: in float32 on all cores of a CPU, in bfloat16 on a
    GPU."""
    gpu = device == "cuda"
    size = 8192 if gpu else 512
    a = torch.randn(size, size, device=device, dtype=torch.bfloat16 if gpu else torch.float32)
    best, out = 0.0, torch.empty_like(a)
    for _ in range(20):  # the first product is a warm-up
        start = time.perf_counter()
        torch.mm(a, a, out=out)
        if gpu:
            torch.cuda.synchronize()
        best = max(best, 2 * size**3 / (time.perf_counter() - start))
    return best


def run_flops(threads: int, parallel: int = 1) -> float:
    """Return the operations per second of one of `parallel` runs, which uses one CPU core per thread or
    shares the GPU."""
    if torch.cuda.is_available():
        return peak_flops("cuda") / parallel
    return peak_flops("cpu") * min(1.0, threads / (os.cpu_count() or 1))
