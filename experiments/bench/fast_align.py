"""fast_align's model trained and used on made pairs, against loops over dictionaries: one direction, five passes.

`python -m experiments.bench.fast_align`
"""

from __future__ import annotations

import math
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np
from scipy.special import psi

from derive.links.aligner import Links, Pair
from derive.links.fast_align import FastAlign
from experiments.bench.timing import Comparison, agreement, arguments, interleaved, report

PAIRS, MORE = 2_000, 20_000
"""Sentence pairs for both sides, and for ours alone: as many as a corpus has."""
WORDS, TYPES = 20, 30_000
PASSES = 5


def made_pairs(pairs: int) -> list[Pair]:
    """Sentences of WORDS words with the frequencies of a natural language, and translations word by word.

    A tenth of the words is translated freely, and neighbours change places.
    """
    random = np.random.default_rng(0)
    frequency = 1 / np.arange(1, TYPES + 1)
    sources = random.choice(TYPES, (pairs, WORDS), p=frequency / frequency.sum())
    targets = np.where(
        random.random(sources.shape) < 0.1, random.permutation(sources.ravel()).reshape(-1, WORDS), sources
    )
    order = np.argsort(np.arange(WORDS) + random.normal(0, 1.5, sources.shape), axis=1)
    targets = np.take_along_axis(targets, order, axis=1)
    return [
        (tuple(f"s{word}" for word in source), tuple(f"t{word}" for word in target))
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True)
    ]


def straightforward(pairs: list[Pair]) -> list[Links]:
    """What a reader of the paper would program first, the gradient of the tension included.

    Of the published tool's quirks it has the one that tells on sentences of one length: targets count from 0 where the
    expected feature is summed.
    """
    tension, t = 4.0, defaultdict[tuple[str, str], float](lambda: 1.0)
    words = sum(len(target) for _, target in pairs)
    sizes = Counter((len(source), len(target)) for source, target in pairs)

    def h(i: int, j: int, n: int, m: int) -> float:
        return -abs(i / n - j / m)

    def joint(source: tuple[str, ...], target: tuple[str, ...], j: int) -> list[float]:
        n, m = len(source), len(target)
        heights = [math.exp(tension * h(i, j, n, m)) for i in range(1, n + 1)]
        z, f = sum(heights) / 0.92, target[j - 1]
        return [0.08 * t["", f], *(t[e, f] * height / z for e, height in zip(source, heights, strict=True))]

    def expected(n: int, m: int, j: int) -> float:
        near = [h(i, j, n, m) for i in range(1, n + 1)]
        return sum(x * math.exp(tension * x) for x in near) / sum(math.exp(tension * x) for x in near)

    for number in range(PASSES - 1):
        counts, seen = defaultdict[tuple[str, str], float](float), 0.0
        for source, target in pairs:
            for j, f in enumerate(target, 1):
                weights = joint(source, target, j)
                total = sum(weights)
                for i, (e, weight) in enumerate(zip(("", *source), weights, strict=True)):
                    counts[e, f] += weight / total
                    seen += h(i, j - 1, len(source), len(target)) * weight / total if i else 0.0
        for _ in range(8 if number else 0):
            model = sum(k * expected(n, m, j) for (n, m), k in sizes.items() for j in range(1, m + 1))
            tension = min(max(tension + 20 * (seen - model) / words, 0.1), 14)
        totals = defaultdict[str, float](float)
        for (e, _), c in counts.items():
            totals[e] += c + 0.01
        t.update({(e, f): math.exp(psi(c + 0.01) - psi(totals[e])) for (e, f), c in counts.items()})
    links = []
    for source, target in pairs:
        best = [
            max(range(len(source) + 1), key=joint(source, target, j).__getitem__) for j in range(1, len(target) + 1)
        ]
        links.append(sorted((i - 1, j) for j, i in enumerate(best) if i))
    return links


def pairs_per_second(work: Callable[[], object], pairs: int) -> float:
    """How many sentence pairs one core works through in a second of its own."""
    start = time.process_time()
    work()
    return pairs / (time.process_time() - start)


def ours(pairs: list[Pair]) -> list[Links]:
    """The same by the product."""
    return list(FastAlign.train(pairs, PASSES).align(pairs))


def main() -> None:
    """Measure and report."""
    options = arguments("fast_align's model against loops over dictionaries", rounds=3, threads=1)
    corpus = made_pairs(MORE)
    pairs = corpus[:PAIRS]
    same = sum(map(list.__eq__, ours(pairs), straightforward(pairs)))
    equal = agreement(same, PAIRS, "sentences' links", 0.999)
    model = FastAlign.train(corpus, PASSES)
    mine, more, training, aligning, theirs = interleaved(
        [
            lambda: pairs_per_second(lambda: ours(pairs), PAIRS),
            lambda: pairs_per_second(lambda: ours(corpus), MORE),
            lambda: pairs_per_second(lambda: FastAlign.train(corpus, PASSES), MORE),
            lambda: pairs_per_second(lambda: sum(1 for _ in model.align(corpus)), MORE),
            lambda: pairs_per_second(lambda: straightforward(pairs), PAIRS),
        ],
        options.rounds,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{MORE:,} pairs of {WORDS} words, {len(model.keys):,} pairs of words: {more:,.0f} pairs/s of one core")
    print(f"training alone {training:,.0f}, aligning alone {aligning:,.0f}; {peak:,.0f} MiB in all")
    what = f"training and aligning {PAIRS:,} pairs: {equal}"
    report(
        [Comparison("fast_align", what, mine, theirs, "pairs/s", mine / theirs)],
        ["numpy", "scipy"],
        options.out,
    )


if __name__ == "__main__":
    main()
