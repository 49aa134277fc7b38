"""What a run costs before it is run: parameters, floating-point operations, memory; and what a machine can do.

H hidden, F feed-forward, L layers, S ids a row, V types.
"""

import os
import time
from dataclasses import dataclass
from functools import cache

import torch

from calque.pretrain.config import ModelConfig
from calque.pretrain.model import LOGITS

PAIR = 64  # ids that a pair of sentences is assumed to have


def parameters(model: ModelConfig, types: int) -> int:
    """Parameters of a RoBERTa with tied embeddings and `types` rows, without language embeddings."""
    h, f = model.hidden, model.ffn
    layer = 4 * (h * h + h) + (h * f + f) + (f * h + h) + 4 * h
    embeddings = (types + model.length + 2 + 1) * h + 2 * h
    head = (h * h + h) + 2 * h + types
    return embeddings + model.layers * layer + head


def flops_per_id(model: ModelConfig, types: int, at_head: float, resting: bool = False) -> float:
    """Training operations an id of text: 6 L (4 H^2 + 2 H F) + 12 L S H + 6 (H^2 + H V), if all ids have a label. With
    labels at a share `at_head` of them, the head costs that share, and so does the last layer except its keys and
    values. `resting`: the encoder and its table do not learn, so layers are passed once, not thrice, the head twice."""
    h, ffn = model.hidden, model.ffn
    keys, rest = 6 * 2 * h * h, 6 * (2 * h * h + 2 * h * ffn) + 12 * model.length * h
    layers, head = (model.layers - 1) * (keys + rest) + keys + at_head * rest, at_head * head_flops_per_id(model, types)
    return layers / 3 + head * 2 / 3 if resting else layers + head


def pair_flops_per_id(
    model: ModelConfig, types: int, at_head: float, length: float, labelling: int, resting: bool = False
) -> float:
    """Training operations an id of sentence pairs of `length` ids each, a pair a row, for TLM and DWA in one pass. All
    of the last layer is computed, for DWA; the pointer takes 12 H^2 + 6 S H. The pass without gradient that labels the
    pairs first takes 2 l (4 H^2 + 2 H F) + 4 l S H through its `labelling` layers. Sinkhorn and Itermax are not
    counted. `resting` as in `flops_per_id`: the pointer's comparisons, which learn, are passed thrice all the same."""
    h, ffn = model.hidden, model.ffn
    layer = 2 * (4 * h * h + 2 * h * ffn) + 4 * length * h
    head, projected, compared = at_head * head_flops_per_id(model, types), 12 * h * h, 6 * length * h
    if resting:
        return (model.layers + labelling) * layer + (head + projected) * 2 / 3 + compared
    return (3 * model.layers + labelling) * layer + head + projected + compared


def encoder_flops_per_id(model: ModelConfig, length: float) -> float:
    """Operations of one pass through all layers, an id of a row of `length`."""
    h, ffn = model.hidden, model.ffn
    return model.layers * (2 * (4 * h * h + 2 * h * ffn) + 4 * length * h)


def head_flops_per_id(model: ModelConfig, types: int) -> float:
    """Training operations of the prediction head, forward and backward, for each id with a label."""
    return 6 * (model.hidden**2 + model.hidden * types)


@dataclass(frozen=True)
class TrainingBytes:
    """Bytes that training takes: `fixed` ones, and for each row of a micro-batch `row` of activations and `logits`. A
    loss holds no more than `most` bytes of logits at a time."""

    fixed: float
    row: float
    logits: float
    most: float

    def of(self, rows: int) -> float:
        """Bytes at the peak with so many rows in a micro-batch."""
        return self.fixed + rows * self.row + min(rows * self.logits, self.most)


def training_bytes(model: ModelConfig, types: int, at_head: float, card: bool) -> TrainingBytes:
    """Weights, gradients and two moments; 16 H + 4 F activations an id and layer; and 12 bytes a logit. Activations are
    float32, or bfloat16 on a card. A logit is there three times in float32 (itself, its softmax, its gradient), or on a
    card it and its gradient in both kinds of floats."""
    activations = (2 if card else 4) * model.length * model.layers * (16 * model.hidden + 4 * model.ffn)
    logits = 12 * at_head * model.length * types
    return TrainingBytes(16 * parameters(model, types), activations, logits, 12 * max(types, LOGITS))


def machine_bytes() -> int:
    """Bytes of this machine's main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def peak_flops(device: str) -> float:
    """The rate of this machine's matrix products in operations/s, measured once for a fraction of a second. float32 on
    a CPU, bfloat16 on a GPU, as in training. On a CPU that others use too, this process's own time counts."""
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
