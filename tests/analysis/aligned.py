"""A made-up study of XLM-Align: numbers of a plausible shape."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calque.analysis.records.record import AER, ALIGNMENT, LABELS, Record
from tests.analysis.runs import number

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
                for made in numbers(transform, objective, seed, (o + 1) / (len(objectives) + 1)):
                    share = min(1.0, max(0.0, made.value + 0.005 * random.normal()))
                    records.append(replace(made, value=share))
    return records


def numbers(transform: str, objective: str, seed: int, good: float) -> Iterator[Record]:
    """Everything that is measured of a model, the larger `good` the better."""

    def made(measure: str, task: str, metric: str, value: float, step: int = 400) -> Record:
        return number(transform, objective, seed, measure, task, metric, value, 900, step)

    for task, metric in (("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy")):
        yield made("SUP", task, metric, 0.9)
        yield made("ZS", task, metric, 0.1 + 0.8 * good)
    yield made(ALIGNMENT, "", "all", good)
    yield made(ALIGNMENT, "", "held-out", good / 2)
    for layer in range(3):
        for joint in (False, True):
            yield replace(made(AER, "", "aer", 0.9 - 0.2 * layer * good), layer=layer, joint=joint)
    if "no-dwa" not in objective and "XLM-ALIGN" in objective:
        for step in STEPS:
            for metric in ("precision", "recall", "share"):
                yield made(LABELS, "", metric, 1.0 if "gold" in objective else good * step / 400, step)
