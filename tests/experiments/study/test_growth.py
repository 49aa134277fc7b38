import pytest

from calque.analysis.records.json_rows import read
from calque.analysis.records.record import ALIGNMENT, CKA, GRADIENTS, HELD_OUT, LINEAR, RETRIEVAL, Record
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override
from tests.experiments.conftest import finished

TINY = """source.size=3000 source.pos.train=60 source.pos.dev=60 source.pos.test=60 vocabulary=600 seeds=0
    transforms=trans.inv objectives=MLM,XLM-after-XLM held_out=0.1
    probe.sentences=60 probe.rows=8 probe.tagged=60 probe.tested=60 probe.shuffles=40
    model.layers=1 model.heads=2 model.hidden=16 model.ffn=32 model.length=32
    train.steps=24 train.batch=8 train.learning_rate=4e-3 train.warmup=4 train.log_every=4 train.snapshots=1
    train.save_every=4""".split()
STEPS = {"MLM": (0, 8, 16, 24), "XLM-after-XLM": (0, 8, 12, 20, 24)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("growth"), override(study("growth"), TINY))


@pytest.fixture(scope="module")
def records(made):
    return read(made.report / "records.jsonl", Record)


def test_every_snapshot_has_every_number_with_its_null(records):
    per_probe = {
        (HELD_OUT, "nats"): 2,
        (GRADIENTS, "layers"): 1,
        (LINEAR, "accuracy"): 2,
        (CKA, "sentences"): 2,
    }
    per_probe |= {(ALIGNMENT, metric): 1 for metric in ("all", "dictionary", "held-out")}
    per_probe |= {(RETRIEVAL, "cosine"): 4, (RETRIEVAL, "mexa"): 2}
    runs = dict.fromkeys(record.run for record in records)
    for steps, run in zip(STEPS.values(), runs, strict=True):
        here = [record for record in records if record.run == run]
        for (measure, metric), many in per_probe.items():
            found = [record for record in here if (record.measure, record.metric) == (measure, metric)]
            assert sorted(record.step for record in found) == sorted([*steps] * many), (measure, metric)
        assert len(here) == len(steps) * sum(per_probe.values())
    for record in records:
        assert record.null.low <= record.null.high
        assert record.null.shuffles == 40
        assert (n := record.count) > 0
        if record.measure == RETRIEVAL:
            assert record.null.chance == (1 / (2 * n - 1) if record.metric == "mexa" else 1 / n)
