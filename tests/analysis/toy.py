import numpy as np

from calque.analysis.records.record import ALIGNMENT, Published
from calque.analysis.results.results import Results
from tests.analysis.runs import number, runs

OBJECTIVES = ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM")
TRANSFORMS = ("trans", "trans.inv")
METRICS = {"nli": ("accuracy",), "ner": ("f1",), "pos": ("accuracy", "f1_bare_tags")}
STEPS = (100, 200, 300, 400)


def toy_records(seeds=3):
    records = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        for o, objective in enumerate(OBJECTIVES):
            for t, transform in enumerate(TRANSFORMS):
                good = 0.25 * o if t else 0.7 + 0.1 * o
                for task, metrics in METRICS.items():
                    for metric in metrics:
                        sup = 0.85 + 0.02 * random.normal()
                        zs = sup - 0.4 * (1 - good) + 0.02 * random.normal()
                        for measure, value in (("SUP", sup), ("ZS", zs)):
                            records.append(
                                number(transform, objective, seed, measure, task, metric, value, 900, 400)
                            )
                for step in STEPS:
                    share = good * step / 400 * 0.9 + 0.02 * random.random()
                    for metric, factor in (
                        ("all", 1),
                        ("dictionary", 1.05),
                        ("held-out", 0.8),
                        ("back", 0.9),
                    ):
                        value = min(1.0, factor * share)
                        records.append(
                            number(transform, objective, seed, ALIGNMENT, "", metric, value, 600, step)
                        )
    return records


def toy_published():
    numbers = []
    for table, measure, task, metric, value in (
        (3, "SUP", "pos", "f1_bare_tags", 0.95),
        (3, "ZS", "pos", "f1_bare_tags", 0.565),
        (3, "DELTA", "pos", "f1_bare_tags", 0.385),
        (3, "DELTA", "nli", "accuracy", -0.002),
        (8, ALIGNMENT, "", "all", 0.003),
    ):
        numbers.append(Published("ALIGN-MLM", table, "MLM", "trans.inv", measure, task, metric, value))
    return numbers


def joined(records, published=None):
    return Results(runs(records), records, published or [], scale="toy")
