import json
import shutil

import pytest

from calque.analysis.measures.interventions import NOTHING, control_of
from calque.analysis.records.record import AFTER
from tests.experiments.conftest import Done, calque, refused


def test_intervene_prints_the_measures_numbers(done, tmp_path):
    copied = Done(shutil.copytree(done.root, tmp_path / "runs"), done.study).changed("measures=interventions")
    copied.compute()
    expected = {
        record.metric.partition(AFTER)[2]: record.value
        for record in copied.records(copied.model("MLM"))
        if AFTER in record.metric
    }
    code, text, error = calque("intervene", done.model("MLM").checkpoint, "--json")
    assert (code, error) == (0, "")
    found = json.loads(text)
    rows = {row["name"]: row for row in found["interventions"]}
    assert (found["task"], found["metric"], found["language"]) == ("pos", "accuracy", "trans.inv")
    assert {name: row["score"]["mean"] for name, row in rows.items()} == expected
    for name, row in rows.items():
        assert row["score"]["low"] <= row["score"]["mean"] <= row["score"]["high"]
        for against, head in ((NOTHING, "change"), (control_of(name), "beyond control")):
            if against and name != NOTHING:
                assert row[head]["mean"] == pytest.approx(expected[name] - expected[against])
            else:
                assert row[head] is None


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
