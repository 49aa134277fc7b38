"""A tiny study of growth, from its languages to its report; its steps, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.records.json_rows import read
from calque.analysis.records.record import ALIGNMENT, CKA, GRADIENTS, HELD_OUT, LINEAR, RETRIEVAL, Record
from calque.derive.errors import BadInput
from calque.experiments.run.schedule import do
from calque.experiments.run.step import Machine
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override
from calque.experiments.settings.validation import study_mistakes
from calque.experiments.study.measures import Growth
from calque.experiments.study.models import Model
from calque.pretrain.mixture import Mixture
from tests.experiments.conftest import Done, finished

TINY = [
    "source.size=3000",
    *(f"source.pos.{split}=60" for split in ("train", "dev", "test")),
    "vocabulary=600",
    "transforms=trans,trans.inv",
    "objectives=MLM,XLM-after-XLM",
    "held_out=0.1",
    "seeds=0",
    *(f"probe.{name}" for name in ("sentences=60", "rows=8", "tagged=60", "tested=60", "shuffles=40")),
    *(f"model.{name}" for name in ("layers=1", "heads=2", "hidden=16", "ffn=32", "length=32")),
    *(f"train.{name}" for name in ("steps=24", "batch=8", "learning_rate=4e-3", "warmup=4", "log_every=4")),
    "train.snapshots=1",
    "train.save_every=4",
]
STEPS = {"MLM": (0, 8, 16, 24), "XLM-after-XLM": (0, 8, 12, 20, 24)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return finished(tmp_path_factory.mktemp("growth"), override(study("growth"), TINY))


@pytest.fixture(scope="module")
def records(made: Done) -> list[Record]:
    return read(made.report / "records.jsonl", Record)


@pytest.fixture
def growth(made: Done) -> tuple[Growth, Model]:
    """How the first model is measured."""
    config = made.measures(made.model("MLM"))["growth"].config
    return config.measure, config.model


def test_every_snapshot_has_every_number_with_its_null(records: list[Record]) -> None:
    per_probe = {
        (HELD_OUT, "nats"): 2,
        (GRADIENTS, "layers"): 1,
        (LINEAR, "accuracy"): 2,
        (CKA, "sentences"): 2,
    }
    per_probe |= {(ALIGNMENT, metric): 1 for metric in ("all", "dictionary", "held-out")}
    per_probe |= {(RETRIEVAL, "cosine"): 4, (RETRIEVAL, "mexa"): 2}
    runs = dict.fromkeys(record.run for record in records)
    for steps, run in zip([*STEPS.values()] * 2, runs, strict=True):
        here = [record for record in records if record.run == run]
        for (measure, metric), many in per_probe.items():
            found = [record for record in here if (record.measure, record.metric) == (measure, metric)]
            assert sorted(record.step for record in found) == sorted([*steps] * many), (measure, metric)
        assert len(here) == len(steps) * sum(per_probe.values())
    for record in records:
        assert record.null is not None
        assert record.null.low <= record.null.high
        assert record.null.shuffles == 40
        assert (n := record.count) > 0
        if record.measure == RETRIEVAL:
            assert record.null.chance == (1 / (2 * n - 1) if record.metric == "mexa" else 1 / n)


def test_a_run_without_snapshots_or_held_out_text_is_refused(
    made: Done, growth: tuple[Growth, Model], tmp_path: Path
) -> None:
    measure, model = growth
    train = replace(model.training.train, snapshots=0, steps=4, warmup=1)
    bare = replace(model.training, train=train).step(tmp_path)
    do(bare, Machine())
    with pytest.raises(BadInput, match="a run without snapshots"):
        measure(replace(model, weights=bare, home=tmp_path), Machine())
    shown = replace(model.training, mixture=replace(model.training.mixture, held_out=0.0)).step(tmp_path)
    do(shown, Machine())
    with pytest.raises(BadInput, match=r"a run without held-out text: mixture\.held_out is 0"):
        measure(replace(model, weights=shown, home=tmp_path), Machine())
    study = replace(made.study, mixture=Mixture(), train=replace(made.study.train, snapshots=0))
    assert [said.partition(":")[0].partition(",")[0] for said in study_mistakes(study)] == [
        "train.snapshots is 0",
        "mixture.held_out must be a fraction between 0 and 1",
    ]
