from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from calque.analysis.measures.interventions import (
    BOTH,
    COUNTERPART,
    NAMES,
    NOTHING,
    ORDER,
    Rows,
    SourceTuned,
    interventions,
)
from calque.analysis.records.record import AFTER, RECOVERED
from calque.analysis.tasks.catalogue import NER, POS
from calque.analysis.tasks.transfer import DerivedTask, transfer
from calque.derive.languages import Languages
from calque.derive.task_data import TaskFolder
from tests.analysis.tasks.test_transfer import FIRST, QUICK, V, data, model_of  # noqa: F401
from tests.refusals import refusal


def quiet(step, steps):
    """Nobody listens."""


def of_task(folder, task, language):
    return DerivedTask(
        task, Languages.open(folder, [language]), TaskFolder.open(folder / "tasks" / task.name), QUICK
    )


@pytest.fixture
def run(make_checkpoint):
    return model_of(make_checkpoint(2 * V), "trans.inv")


@pytest.fixture
def copied(run, tmp_path):
    weights = load_file(run.checkpoint / "model.safetensors")
    table = weights["roberta.embeddings.word_embeddings.weight"]
    table[V + FIRST :] = table[FIRST:V]
    (tmp_path / "checkpoint").mkdir()
    save_file(weights, tmp_path / "checkpoint" / "model.safetensors", {"format": "pt"})
    (tmp_path / "checkpoint" / "config.json").write_text((run.checkpoint / "config.json").read_text())
    return replace(run, checkpoint=tmp_path / "checkpoint", language="trans")


@pytest.mark.parametrize("task", [POS(), NER()])
def test_unchanged_model_has_the_zero_shot_score(run, data, task):  # noqa: F811
    pair = of_task(data, task, "trans.inv")
    (usual,) = [r for r in transfer(run, pair).records if (r.measure, r.metric) == ("ZS", task.primary)]
    records = interventions(SourceTuned(run, pair, quiet)).records
    after = {r.metric.removeprefix(task.primary + AFTER): r for r in records if r.measure == "ZS"}
    assert replace(after[NOTHING], metric=task.primary) == usual
    assert {*NAMES} == {*after}
    found = {r.metric: r.value for r in records if r.measure == RECOVERED}
    values = {name: after[name].value for name in (NOTHING, COUNTERPART, ORDER, BOTH)}
    assert found["words"] + found["order"] + found["interaction"] == pytest.approx(
        values[BOTH] - values[NOTHING]
    )


def test_interventions_do_not_help_copies_of_the_source(copied, data):  # noqa: F811
    tuned = SourceTuned(
        copied, replace(of_task(data, POS(), "trans"), config=replace(QUICK, freeze_table=True)), quiet
    )
    rows = tuned.rows()
    assert torch.equal(rows.derived, rows.source)
    same = tuned.score()
    assert tuned.score(dict(rows.changes())[COUNTERPART]) == same
    assert tuned.score(of_source=True) == same
    assert tuned.score(dict(rows.changes())["word of any tag"]).value < same.value


def test_model_without_the_types_is_rejected(make_checkpoint, data):  # noqa: F811
    small = model_of(make_checkpoint(V // 2), "trans.inv")
    assert "but the model has only" in refusal(SourceTuned, small, of_task(data, POS(), "trans.inv"))


def made_rows(tags, seed=0):
    random = np.random.default_rng(seed)
    derived, source = torch.from_numpy(random.standard_normal((2, len(tags), 4)))
    return Rows(derived, source, np.arange(5), np.array(list(tags)), np.arange(len(tags)), random)


@pytest.mark.parametrize("seed", range(5))
def test_wrong_words_have_the_same_tag(seed):
    rows = made_rows("NNNNNVVA", seed)
    for change, same in (("word of the same tag", True), ("word of any tag", False)):
        found = dict(rows.changes())[change]
        taken = [int((rows.source == row).all(1).nonzero()) for row in found]
        assert sorted(taken) == list(range(8))
        # The only word with its tag cannot be exchanged.
        others = [i for i in range(8) if not (same and rows.tags[i] == "A")]
        assert all(taken[i] != i for i in others)
        assert not same or (rows.tags[taken] == rows.tags).all()
