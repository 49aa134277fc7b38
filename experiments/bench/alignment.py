"""alignment@1 against the bare matrix products that it cannot do without: `python -m experiments.bench.alignment`.

Sides take turns and are timed in CPU seconds, so that whatever else the machine does counts little: the products alone
in blocks of 500 rows (as usually written), the products alone in our tiles, and alignment@1 in both directions of
the same table, normalisation and all. The memory beyond the table, and the full matrix at a smaller size, come with it.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from analysis.measures.alignment import Types, mutual_nearest
from derive.script import Transliterate
from derive.types import OURS
from experiments.bench.timing import Comparison, agreement, arguments, interleaved, report

SIZE, WIDTH, FEW = 40_000, 512, 8_000
MIB = 2**20


def products(source: Tensor, derived: Tensor, block: int, width: int) -> None:
    """Every product of the two tables, block by block into one buffer, and nothing else."""
    buffer = torch.empty(block, min(width, len(derived)))
    for left in range(0, len(derived), width):
        keys = derived[left : left + width].T
        for top in range(0, len(source), block):
            queries = source[top : top + block]
            torch.matmul(queries, keys, out=buffer[: len(queries), : keys.shape[1]])


def full_matrix(source: Tensor, derived: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """All cosines at once, then the best of each row and of each column."""
    source, derived = (torch.nn.functional.normalize(rows) for rows in (source, derived))
    cosines, here = source @ derived.T, torch.arange(len(source))
    return (cosines.argmax(1) == here).numpy(), (cosines.argmax(0) == here).numpy()


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, all threads together."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_mib() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def main() -> None:
    """Measure and print."""
    given = arguments("alignment@1 against bare matrix products", rounds=3, threads=1)
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    table = torch.randn(2 * SIZE, WIDTH)
    table[SIZE:] *= 5  # noise enough that about half of the types find their image
    table[SIZE:] += table[:SIZE]
    source, derived = table[:SIZE], table[SIZE:]
    ids = OURS.ordinary(SIZE)
    types = Types(ids, Transliterate().image(SIZE), ids[::4], np.ones(SIZE, np.int64), np.arange(SIZE))

    products(source[:FEW], derived[:FEW], 500, FEW)  # the first product pays for loading the library
    before = peak_mib()
    fractions = types.alignment(table).shares
    memory = peak_mib() - before
    print(
        f"{memory:.0f} MiB beyond a table of {table.nbytes / MIB:.0f} MiB; {fractions['all'][0]:.1%} find their image"
    )

    rows, tiles, ours = interleaved(
        [
            lambda: cpu_seconds(lambda: products(source, derived, 500, SIZE)),
            lambda: cpu_seconds(lambda: products(source, derived, 512, 2048)),
            lambda: cpu_seconds(lambda: types.alignment(table)),
        ],
        given.rounds,
    )
    few = source[:FEW], derived[:FEW]
    whole, tiled = interleaved(
        [
            lambda: cpu_seconds(lambda: full_matrix(*few)),
            lambda: cpu_seconds(lambda: mutual_nearest(few[0].clone(), few[1].clone())),
        ],
        given.rounds,
    )
    both = zip(full_matrix(*few), mutual_nearest(few[0].clone(), few[1].clone()), strict=True)
    equal = agreement(sum(int((a == b).sum()) for a, b in both), 2 * FEW, "answers", 0.999)
    size = f"{SIZE:,} x {SIZE:,} x {WIDTH}"
    comparisons = [
        Comparison("alignment", f"products in blocks of 500, {size}", ours, rows, "CPU s", rows / ours),
        Comparison("alignment", f"products in our tiles, {size}", ours, tiles, "CPU s", tiles / ours),
        Comparison(
            "alignment", f"full matrix, {FEW:,} x {FEW:,} x {WIDTH}: {equal}", tiled, whole, "CPU s", whole / tiled
        ),
        Comparison("alignment", "memory beyond the table, against 1 GiB", memory, 1024, "MiB", 1024 / memory),
    ]
    report(comparisons, ("torch",), given.out)


if __name__ == "__main__":
    main()
