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
    options = arguments(__doc__ or "", rounds=30)
    torch.set_num_threads(options.threads)
    pair = made_pair(TYPES // 2, 200_000)
    collate = collator(TYPES)
    comparisons = []
    for batch, length in SHAPES:
        packed = PackedLines(pair.source, length)
        rows = np.stack([packed.row(i) for i in range(batch)])
        languages, data, random = np.zeros_like(rows), examples(rows), np.random.default_rng(0)
        ours, theirs = interleaved(
            [
                lambda rows=rows, languages=languages: seconds(lambda: mask(rows, languages, pair.image, random)),
                lambda data=data: seconds(lambda: collate(data)),
            ],
            options.rounds,
        )
        what = f"{batch} rows of {length}"
        comparisons.append(Comparison("mask", what, ours * 1e3, theirs * 1e3, "ms", theirs / ours))
    report(comparisons, ["torch", "transformers", "numpy"], options.out)


if __name__ == "__main__":
    main()
