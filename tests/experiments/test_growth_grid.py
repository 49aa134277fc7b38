"""A tiny study of growth, from its languages to its report; its steps, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from experiments.growth_grid import GrowthGrid
from experiments.steps.growth import Growth
from experiments.steps.pretraining import Pretrain
from transformers import RobertaModel

from analysis.measures.loss import unigram_loss
from analysis.measures.probe_text import ProbeText
from analysis.measures.probing import model_with_head
from analysis.records.json_rows import read
from analysis.records.record import ALIGNMENT, CKA, GRADIENTS, HELD_OUT, LINEAR, RETRIEVAL, Record
from analysis.tasks.catalog import task
from derive.errors import BadInput
from derive.languages import Languages
from derive.task_data import TaskFolder
from experiments.names import study
from experiments.override import override
from experiments.schedule import compute
from experiments.step import Machine

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


@dataclass(frozen=True)
class Made:
    """A study, its folder, and its records."""

    study: GrowthGrid
    root: Path
    report: Path
    records: list[Record]

    @property
    def first(self) -> Growth:
        return next(step for step in self.study.steps(self.root) if isinstance(step, Growth))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    tiny: GrowthGrid = override(study("growth"), TINY)  # type: ignore[type-var, assignment]
    root = tmp_path_factory.mktemp("growth")
    compute(tiny.steps(root), tiny.home(root), 1)
    report = tiny.report(root, changed=False)
    tiny.summarise(root, report)
    return Made(tiny, root, report, read(report / "records.jsonl", Record))


def test_every_snapshot_has_every_number_with_its_null(made: Made) -> None:
    per_probe = {(HELD_OUT, "nats"): 2, (GRADIENTS, "layers"): 1, (LINEAR, "accuracy"): 2, (CKA, "sentences"): 2}
    per_probe |= {(ALIGNMENT, metric): 1 for metric in ("all", "dictionary", "held-out")}
    per_probe |= {(RETRIEVAL, "cosine"): 4, (RETRIEVAL, "mexa"): 2}
    runs = dict.fromkeys(record.run for record in made.records)
    for steps, run in zip([*STEPS.values()] * 2, runs, strict=True):
        here = [record for record in made.records if record.run == run]
        for (measure, metric), many in per_probe.items():
            found = [record for record in here if (record.measure, record.metric) == (measure, metric)]
            assert sorted(record.step for record in found) == sorted([*steps] * many), (measure, metric)
        assert len(here) == len(steps) * sum(per_probe.values())
    for record in made.records:
        assert record.null is not None
        assert record.null.low <= record.null.high
        assert record.null.shuffles == 40
        assert record.count > 0


def test_the_report_tells_what_comes_first(made: Made) -> None:
    files = {path.name for path in made.report.iterdir()}
    assert {"what-comes-first.md", "onsets.csv", "report.html", "records.jsonl"} <= files
    names = {path.name for path in (made.report / "figures").iterdir()}
    shown = ("onset", "predicted", "aligned")
    assert names == {f"figure-{name}.{kind}" for name in shown for kind in ("png", "svg", "jsonl")}
    page = (made.report / "report.html").read_text(encoding="utf-8")
    for said in ("What comes first", "MEXA", "leaves its null", "Held out"):
        assert said in page, said


def test_probing_again_finds_the_same_and_the_last_snapshot_is_the_checkpoint(made: Made) -> None:
    again = made.first.measured(Machine())
    assert again == made.first.read()


def test_a_run_without_snapshots_or_held_out_text_is_refused(made: Made, tmp_path: Path) -> None:
    run = made.first.run
    bare = replace(run, above=tmp_path, train=replace(run.train, snapshots=0, steps=4, warmup=1))
    bare(Machine())
    with pytest.raises(BadInput, match="a run without snapshots"):
        replace(made.first, run=bare).measured(Machine())
    shown = replace(made.study, held_out=0.0, train=replace(made.study.train, snapshots=0)).mistakes()
    assert [said.partition(":")[0].partition(",")[0] for said in shown] == [
        "train.snapshots is 0",
        "held_out is a fraction between 0 and 1",
    ]


def test_a_model_without_a_head_is_refused(made: Made, tmp_path: Path) -> None:
    run: Pretrain = made.first.run
    RobertaModel.from_pretrained(run.checkpoint, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match=r"model\.safetensors: a model without a prediction head \(lm_head\."):
        model_with_head(tmp_path)
    assert isinstance(model_with_head(run.checkpoint), torch.nn.Module)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("train.snapshots=0", "train.snapshots is 0"),
        ("probe.shuffles=3", "probe.shuffles is at least 40, not 3"),
        ("probe.shuffles=99999999", "probe.shuffles are at most 10,000, not 99,999,999"),
        ("held_out=1", "held_out is a fraction between 0 and 1"),
        ("task=nlp", "source has no examples of 'nlp'; there are pos, ner, nli"),
    ],
)
def test_settings_that_cannot_be(setting: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        override(study("growth"), [setting])  # type: ignore[type-var]


def test_too_little_text_held_out_is_said_before_any_model_is_trained(made: Made, tmp_path: Path) -> None:
    short = replace(made.study, probe=replace(made.study.probe, rows=10_000))
    with pytest.raises(BadInput, match=r"fewer than twice 10000 \(probe\.rows\)"):
        compute(short.steps(tmp_path), short.home(tmp_path), 1)
    assert sorted(path.name.partition("-")[0] for path in short.home(tmp_path).iterdir()) == ["languages", "tasks"]


def test_what_probes_are_shown_is_counted(made: Made) -> None:
    for counts in made.study.shown(made.root).read():
        assert 20 <= counts["pairs"] <= 60
        assert counts["masked"] > 8
        assert counts["tagged"] > counts["tested"] > 60


def test_what_a_language_of_shared_stems_is_asked_for_are_its_types(tmp_path: Path) -> None:
    """Inside words some types have the source's rows, at their ends none."""
    tiny: GrowthGrid = override(study("growth"), [*TINY, "transforms=trans-stems-100", "vocabulary=400"])  # type: ignore[type-var, assignment]
    compute(tiny.in_stages(tmp_path, ["derive"]), tiny.home(tmp_path), 1)
    languages = Languages.open(tiny.languages(tmp_path).folder, ["trans-stems-100"])
    examples = TaskFolder.open(tiny.examples(tmp_path)[0].folder)
    text = ProbeText.of(languages.whole, tiny.held_out, tiny.model.length, task("pos"), examples, tiny.probe)
    rows = text.masked["trans-stems-100"]
    labels = rows.labels.flatten()[rows.positions.at].numpy()
    assert (labels < 400).any() and (labels >= 400).any()
    assert text.unigram["trans-stems-100"] == unigram_loss(labels % 400, languages.vocabulary.counts)
