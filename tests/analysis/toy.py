from itertools import product

import numpy as np

from calque.analysis.records.record import ALIGNMENT, Published
from calque.analysis.results import Results
from tests.analysis.runs import number, runs

OBJECTIVES = ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM")
TRANSFORMS = ("trans", "trans.inv")
METRICS = (("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy"), ("pos", "f1_bare_tags"))
STEPS = (100, 200, 300, 400)


def toy_records(seeds=3):
    records = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        for (o, objective), (t, transform) in product(enumerate(OBJECTIVES), enumerate(TRANSFORMS)):
            good = 0.25 * o if t else 0.7 + 0.1 * o
            for task, metric in METRICS:
                sup = 0.85 + 0.02 * random.normal()
                zs = sup - 0.4 * (1 - good) + 0.02 * random.normal()
                for measure, value in (("SUP", sup), ("ZS", zs)):
                    records.append(number(transform, objective, seed, measure, task, metric, value, 900, 400))
            for step in STEPS:
                share = good * step / 400 * 0.9 + 0.02 * random.random()
                for metric, factor in (("all", 1), ("dictionary", 1.05), ("held-out", 0.8), ("back", 0.9)):
                    value = min(1.0, factor * share)
                    records.append(
                        number(transform, objective, seed, ALIGNMENT, "", metric, value, 600, step)
                    )
    return records


PRINTED = (
    (3, "MLM", "trans.inv", "SUP", "pos", "f1_bare_tags", 0.95),
    (3, "MLM", "trans.inv", "ZS", "pos", "f1_bare_tags", 0.565),
    (3, "MLM", "trans.inv", "DELTA", "pos", "f1_bare_tags", 0.385),
    (3, "MLM", "trans.inv", "DELTA", "nli", "accuracy", -0.002),
    (8, "MLM", "trans.inv", ALIGNMENT, "", "all", 0.003),
)


def toy_published():
    return [Published("ALIGN-MLM", *number) for number in PRINTED]


def joined(records, published=None):
    return Results(runs(records), records, published or [], scale="toy")
