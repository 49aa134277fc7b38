import shutil

import pytest

from calque import load
from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.records.record import AFTER
from calque.analysis.report.table import percent
from calque.experiments.commands.models import effects_of
from tests.experiments.conftest import Done, calque, refused


def test_intervene_prints_the_measures_numbers(done, tmp_path):
    copied = Done(shutil.copytree(done.root, tmp_path / "runs"), done.study).changed("measures=interventions")
    copied.compute()
    expected = {
        record.metric.partition(AFTER)[2]: record.value
        for record in copied.records(copied.model("MLM"))
        if AFTER in record.metric
    }
    tuned = load(done.model("MLM").checkpoint).finetune("pos", "trans.inv")
    effects = effects_of(tuned)
    assert {name: score.mean for name, (score, *_) in effects.items()} == expected
    for name, (score, *differences) in effects.items():
        assert score.low <= score.mean <= score.high
        for against, difference in zip((NOTHING, control_of(name)), differences, strict=True):
            if against and name != NOTHING:
                assert difference.mean == pytest.approx(expected[name] - expected[against])
            else:
                assert difference is None
    code, text, error = calque("intervene", done.model("MLM").checkpoint)
    assert (code, error) == (0, "")
    for name, score in expected.items():
        assert any(line.startswith(f"| {name} ") and percent(score) in line for line in text.splitlines())


def test_bad_input_is_one_line(done, tmp_path):
    checkpoint = done.model("MLM").checkpoint
    alone = shutil.copytree(checkpoint, tmp_path / "alone")
    for words, said in (
        ([alone], alone),
        ([tmp_path], tmp_path),
        ([checkpoint, "--task", "ner"], "ner"),  # never fine-tuned
        ([checkpoint, "--task", "klingon"], "'klingon'"),
        ([checkpoint, "--language", "klingon"], "'klingon'"),
        ([checkpoint, "--language", "source"], "source"),
    ):
        assert str(said) in refused("intervene", *words)
