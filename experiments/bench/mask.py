"""Masking a batch against transformers' collator: `python -m experiments.bench.mask`."""

from __future__ import annotations

import numpy as np
import torch

from experiments.bench.hugging_face import collator, examples, made_pair
from experiments.bench.timing import Comparison, arguments, interleaved, report, seconds
from pretrain.data import PackedLines
from pretrain.mask import mask

TYPES = 8192
SHAPES = ((32, 128), (128, 512))


def main() -> None:
    """Measure and report."""
    options = arguments("masking against transformers' collator", rounds=30, threads=1)
    torch.set_num_threads(options.threads)
    pair = made_pair(TYPES // 2, 200_000)
    collate = collator(TYPES)

    def compare(batch: int, length: int) -> Comparison:
        packed = PackedLines(pair.source, length)
        rows = np.stack([packed.row(i) for i in range(batch)])
        languages, data, random = np.zeros_like(rows), examples(rows), np.random.default_rng(0)
        ours, theirs = interleaved(
            [
                lambda: seconds(lambda: mask(rows, languages, pair.image, random)),
                lambda: seconds(lambda: collate(data)),
            ],
            options.rounds,
        )
        return Comparison("mask", f"{batch} rows of {length}", ours * 1e3, theirs * 1e3, "ms", theirs / ours)

    report([compare(*shape) for shape in SHAPES], ["torch", "transformers", "numpy"], options.out)


if __name__ == "__main__":
    main()
