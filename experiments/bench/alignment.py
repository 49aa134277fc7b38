"""alignment@1 against the bare matrix products it cannot do without: `python -m experiments.bench.alignment`.

Three things take turns, so that whatever else the machine does falls on all of them, and medians of ratios are
printed: the products alone in blocks of 500 rows (as usually written), the products alone in our tiles, and
alignment@1 in both directions from the same two tables, normalisation and all. The memory beyond the tables and the
naive full matrix at a smaller size come after.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from torch import Tensor

from analysis.alignment import Types, mutual_nearest
from derive.script import Transliterate
from derive.types import FIRST


def products(source: Tensor, derived: Tensor, block: int, width: int) -> None:
    """Every product of the two tables, block by block into one buffer, and nothing else."""
    buffer = torch.empty(block, min(width, len(derived)))
    for left in range(0, len(derived), width):
        keys = derived[left : left + width].T
        for top in range(0, len(source), block):
            queries = source[top : top + block]
            torch.matmul(queries, keys, out=buffer[: len(queries), : keys.shape[1]])


def naive(source: Tensor, derived: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The whole matrix at once, argmax of rows and of columns."""
    source, derived = (torch.nn.functional.normalize(rows) for rows in (source, derived))
    cosines, here = source @ derived.T, torch.arange(len(source))
    return (cosines.argmax(1) == here).numpy(), (cosines.argmax(0) == here).numpy()


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_mib() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", type=int, default=40_000)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    table = torch.randn(2 * given.types, given.width)
    table[given.types :] += table[: given.types]
    source, derived = table[: given.types], table[given.types :]
    vocabulary = np.arange(FIRST, given.types)
    pairs = np.stack([vocabulary[::4], vocabulary[::4] + given.types], axis=1)
    types = Types(vocabulary, Transliterate().image(given.types), pairs, np.ones(given.types, np.int64))

    products(source[:1000], derived[:1000], 500, 1000)  # the first product pays for loading the library
    before = peak_mib()
    found = types.alignment(table)
    print(
        f"alignment@1 of {given.types:,} x {given.types:,} x {given.width}, both directions, {given.threads} thread(s)"
    )
    print(f"peak memory beyond the tables: {peak_mib() - before:.0f} MiB (the tables: {table.nbytes / 2**20:.0f} MiB)")
    print(f"found {found.shares['all'][0]:.3f}, back {found.shares['back'][0]:.3f}")
    ratios: dict[str, list[float]] = {"products, blocks of 500": [], "products, our tiles": []}
    for repeat in range(given.repeats):
        rows = seconds(lambda: products(source, derived, 500, given.types))
        ours = seconds(lambda: types.alignment(table))
        tiles = seconds(lambda: products(source, derived, 512, 2048))
        print(f"repeat {repeat + 1}: blocks of 500 {rows:.2f} s, our tiles {tiles:.2f} s, alignment@1 {ours:.2f} s")
        ratios["products, blocks of 500"].append(ours / rows)
        ratios["products, our tiles"].append(ours / tiles)
    for name, values in ratios.items():
        print(f"alignment@1 / {name}: {median(values):.3f} (median of {len(values)}; at most 1.25 is asked for)")

    few = min(8_000, given.types)
    small = source[:few], derived[:few]
    pairs_of_times = [
        (seconds(lambda: naive(*small)), seconds(lambda: mutual_nearest(*(rows.clone() for rows in small))))
        for _ in range(given.repeats)
    ]
    ratio = median(whole / tiled for whole, tiled in pairs_of_times)
    same = all(
        np.array_equal(a, b)
        for a, b in zip(naive(*small), mutual_nearest(*(rows.clone() for rows in small)), strict=True)
    )
    print(f"the full matrix of {few:,} types takes {ratio:.2f} times as long; same types found: {same}")


if __name__ == "__main__":
    main()
