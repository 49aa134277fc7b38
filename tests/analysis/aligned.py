"""A made-up study of XLM-Align: numbers of a plausible shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.records.record import AER, ALIGNMENT, LABELS, Record

END = "-after-ALIGN-MLM"
STARTS = ("MLM", "XLM-ALIGN", "XLM-ALIGN-no-dwa", f"XLM-ALIGN{END}", "XLM-ALIGN-gold")
PARTS = ("", "-no-dwa", "-no-tlm", "-label1", "-dwa1", "-unfiltered", "-unmasked", "-all-aligned")
ABLATIONS = (f"MLM{END}", *(f"XLM-ALIGN{part}{END}" for part in PARTS))
STEPS = (100, 200, 300, 400)


def aligned_records(
    objectives: tuple[str, ...], transforms: tuple[str, ...] = ("trans",), seeds: int = 3
) -> list[Record]:
    """Every number of a study: the later an objective stands, the better it is, by more than seeds differ."""
    records = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        for transform in transforms:
            for o, objective in enumerate(objectives):
                run = f"{transform}-{objective}-{seed}"
                for *what, value, step in numbers(objective, (o + 1) / (len(objectives) + 1)):
                    share = min(1.0, max(0.0, value + 0.005 * random.normal()))
                    records.append(Record("toy", run, transform, objective, seed, *what, share, 900, step))
    return records


def numbers(objective: str, good: float) -> Iterator[tuple[str, str, str, float, int]]:
    """Measure, task, metric, value and step of everything that is measured of a model, the larger `good` the better."""
    for task, metric in (("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy")):
        yield "SUP", task, metric, 0.9, 400
        yield "ZS", task, metric, 0.1 + 0.8 * good, 400
    yield ALIGNMENT, "", "all", good, 400
    yield ALIGNMENT, "", "held-out", good / 2, 400
    for layer in range(3):
        for end in ("", ", joint"):
            yield AER, "", f"layer {layer}{end}", 0.9 - 0.2 * layer * good, 400
    if "no-dwa" not in objective and "XLM-ALIGN" in objective:
        for step in STEPS:
            for metric in ("precision", "recall", "share"):
                yield LABELS, "", metric, 1.0 if "gold" in objective else good * step / 400, step
