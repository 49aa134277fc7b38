"""Masking a batch against transformers' collator: `python -m experiments.bench.mask`.

The collator gets rows that lie ready as lists. Ours are timed likewise, ready as a table, and read from the corpus too,
as in every step of pretraining.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from derive.types import Specials
from experiments.bench.hugging_face import collator, examples, made_languages
from experiments.bench.timing import Comparison, agreement, arguments, interleaved, report, seconds
from pretrain.batch import UNLABELLED, Rows
from pretrain.mask import Masking
from pretrain.objectives.mlm import PackedLines

TYPES = 8192
SHAPES = ((32, 128), (128, 512))


def rates(specials: Specials, clean: Tensor, shown: Tensor, labels: Tensor) -> list[tuple[float, int]]:
    """How often a position is selected, and a selected one masked, kept or replaced; each with what it is out of."""
    asked = labels != UNLABELLED
    count = int(asked.sum())
    masked, kept = (shown == specials.mask) & asked, (shown == clean) & asked
    ordinary = int(specials.is_ordinary(clean.numpy()).sum())
    fates = [(float(part.sum()) / count, count) for part in (masked, kept, asked & ~masked & ~kept)]
    return [(count / ordinary, ordinary), *fates]


def alike(first: tuple[float, int], second: tuple[float, int]) -> bool:
    """Whether two rates are within four standard errors of each other."""
    (p, n), (q, m) = first, second
    return abs(p - q) <= 4 * (p * (1 - p) / n + q * (1 - q) / m) ** 0.5


def _parts(rows: Rows) -> tuple[Tensor, Tensor]:
    return rows.ids, rows.labels


def _collated(batch: Any) -> tuple[Tensor, Tensor]:
    return batch["input_ids"], batch["labels"]


def main() -> None:
    """Measure and report."""
    options = arguments("masking against transformers' collator", rounds=30, threads=1)
    torch.set_num_threads(options.threads)
    made = made_languages(TYPES // 2, 200_000)
    collate = collator(TYPES)

    def compare(batch: int, length: int) -> list[Comparison]:
        packed = PackedLines(made.languages[0], made.specials, length)
        masking = Masking.of(made)

        def read() -> np.ndarray:
            return np.stack([packed.row(i) for i in range(batch)])

        rows = read()
        languages, data, random = np.zeros_like(rows), examples(rows), np.random.default_rng(0)
        table = torch.from_numpy(rows)
        same = sum(
            alike(rate, other)
            for rate, other in zip(
                rates(made.specials, table, *_parts(masking(rows, languages, random))),
                rates(made.specials, table, *_collated(collate(data))),
                strict=True,
            )
        )
        agreement(same, 4, "rates")
        masked, reading, theirs = interleaved(
            [
                lambda: seconds(lambda: masking(rows, languages, random)),
                lambda: seconds(lambda: masking(read(), languages, random)),
                lambda: seconds(lambda: collate(data)),
            ],
            options.rounds,
        )
        return [
            Comparison("mask", f"{batch} rows of {length}{what}", 1e3 * ours, 1e3 * theirs, "ms", theirs / ours)
            for what, ours in (("", masked), (", read from the corpus", reading))
        ]

    report([row for shape in SHAPES for row in compare(*shape)], ["torch", "transformers", "numpy"], options.out)


if __name__ == "__main__":
    main()
