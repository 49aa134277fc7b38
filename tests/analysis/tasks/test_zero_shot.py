"""Zero-shot transfer between treebanks."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from analysis.records.record import MeasuredModel, Measurement
from analysis.tasks.finetune import FinetuneConfig, finetune
from analysis.tasks.rows import Reader
from analysis.tasks.score import Score
from analysis.tasks.split import Split
from analysis.tasks.tagging import POS
from analysis.tasks.transfer import LearningWay, ScoredTask, zero_shot
from derive.errors import BadInput
from derive.readers.conllu import read_conllu
from derive.sources.files import TaskFiles
from derive.task_data import TaskFolder, write_natural_task
from derive.treebank import write_treebank
from pretrain.saved_model import load_model
from tests.analysis.aligners.conftest import roberta, sentence_pairs
from tests.derive.test_task_data import treebank

__all__ = ["roberta", "sentence_pairs"]  # fixtures
CONFIG = FinetuneConfig(learning_rate=1e-2, epochs=3, batch=8, dropout=0.0, freeze_table=True)
CPU = torch.device("cpu")


def learn_and_score(
    checkpoint: Path, tasks: list[ScoredTask], configs: list[FinetuneConfig], seed: int = 3, **way: Any
) -> Measurement:
    """A model that learnt Pocket English, tested."""
    return zero_shot(MeasuredModel(checkpoint, "run", seed=seed), tasks, "en", LearningWay(tuple(configs), **way))


def scores(measurement: Measurement, language: str, task: str = "pos") -> dict[str, Score]:
    """The scores of a language by metric."""
    return {
        record.metric: Score(record.value, record.count, record.items)
        for record in measurement.records
        if (record.task, record.language) == (task, language)
    }


def submission(*predictions: Sequence[str]) -> str:
    return POS().submission("", [], predictions)[1]


@pytest.fixture
def examples(tmp_path: Path) -> TaskFolder:
    """Pocket English; its mirror as `xx`, and its training set as `zz`."""
    train, test = (treebank(tmp_path / f"{name}.conllu", 60, n) for n, name in enumerate(("train", "test"), start=5))
    mirror = [sentence.reorder(range(len(sentence) - 1, -1, -1)) for sentence in read_conllu(test)]
    write_treebank(tmp_path / "xx.conllu", mirror)
    tests = {"xx": (tmp_path / "xx.conllu",), "zz": (train,)}
    return TaskFolder.open(write_natural_task("pos", TaskFiles((train,), (test,), (test,)), tests, tmp_path / "made"))


def test_each_language_has_the_score_of_the_one_model(roberta: Path, examples: TaskFolder) -> None:
    """As fine-tuning and scoring, called one by one, have it."""
    measurement = learn_and_score(roberta, [ScoredTask(POS(), examples, ("xx", "zz"))], [CONFIG])
    assert [(record.measure, record.language, record.metric) for record in measurement.records] == [
        (measure, name, metric)
        for measure, name in (("SRC", "en"), ("ZS", "xx"), ("ZS", "zz"))
        for metric in ("accuracy", "f1_bare_tags")
    ]
    assert measurement.facts == {"chosen": 0, "dev": []}
    reader, train = Reader.of_checkpoint(roberta), Split(examples.path("train"), POS())
    labels = POS().labels(train.gold)
    model = finetune(roberta, train.encode(labels, reader, 128), POS().head, len(labels), CONFIG, 3, CPU)
    test = Split(examples.path("test", "xx"), POS())
    rows = test.encode(labels, reader, 128)
    said = test.decode(rows, model.answers(rows), labels)
    assert scores(measurement, "xx") == POS().scores(test.gold, said)
    assert measurement.files["pos/test-xx.tsv"] == submission(*said)
    assert measurement.exclusions["examples of xx that do not fit into one row"] == rows.cut
    assert scores(measurement, "zz")["accuracy"].count == sum(map(len, train.gold))


def test_the_setting_with_the_best_dev_sets_is_taken(roberta: Path, tmp_path: Path) -> None:
    """By the mean over languages, each alone asked again here; the test sets are the chosen model's."""
    paths = [treebank(tmp_path / f"{name}.conllu", 60, n) for n, name in enumerate(("train", "dev", "test"), start=5)]
    mirror = [sentence.reorder(range(len(sentence) - 1, -1, -1)) for sentence in read_conllu(paths[1])]
    write_treebank(tmp_path / "xx.conllu", mirror)
    train, dev, test = ((path,) for path in paths)
    others = {"xx": (tmp_path / "xx.conllu",)}
    folder = write_natural_task("pos", TaskFiles(train, test, dev), others, tmp_path / "made", others)
    both = TaskFolder.open(folder)
    configs = [replace(CONFIG, learning_rate=rate) for rate in (1e-6, 1e-2, 1e-5)]
    chosen = learn_and_score(roberta, [ScoredTask(POS(), both, ("xx",))], configs, devs=("xx",))
    as_test = TaskFiles(train, dev, dev)
    asked = TaskFolder.open(write_natural_task("pos", as_test, others, tmp_path / "asked"))
    expected = []
    for config in configs:
        alone = learn_and_score(roberta, [ScoredTask(POS(), asked, ("xx",))], [config])
        expected.append(fmean(scores(alone, name)["accuracy"].value for name in ("en", "xx")))
    assert chosen.facts == {"chosen": 1, "dev": pytest.approx(expected)}
    alone = learn_and_score(roberta, [ScoredTask(POS(), both, ("xx",))], configs[1:2])
    assert scores(alone, "xx") == scores(chosen, "xx")


def test_a_frozen_table_stays_as_it_was_and_the_rest_learns(roberta: Path, examples: TaskFolder) -> None:
    train = Split(examples.path("train"), POS())
    labels = POS().labels(train.gold)
    data = train.encode(labels, Reader.of_checkpoint(roberta), 128)
    before, _ = load_model(roberta)
    tuned = finetune(roberta, data, POS().head, len(labels), CONFIG, 0, CPU).model
    table = tuned.get_input_embeddings().weight
    assert torch.equal(table, before.get_input_embeddings().weight)
    moved = [
        name
        for name, weight in tuned.base_model.named_parameters()
        if not torch.equal(weight, before.state_dict()[name])
    ]
    assert any("layer.0" in name for name in moved) and not any("word_embeddings" in name for name in moved)


def test_tags_that_the_training_data_lack_are_refused_before_anything_is_learnt(
    roberta: Path, examples: TaskFolder, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.conllu"
    odd.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    source = tmp_path / "train.conllu"
    folder = write_natural_task("pos", TaskFiles((source,), (source,), (source,)), {"xx": (odd,)}, tmp_path / "odd")
    with pytest.raises(BadInput, match="unknown label 'X'"):
        learn_and_score(roberta, [ScoredTask(POS(), TaskFolder.open(folder), ("xx",))], [CONFIG])


class OtherPOS(POS):
    """The same under another name, as MLQA is beside XQuAD."""

    name = "other"


def test_a_task_that_learns_the_same_is_answered_by_the_same_model(roberta: Path, examples: TaskFolder) -> None:
    sets = [ScoredTask(POS(), examples, ("xx",)), ScoredTask(OtherPOS(), examples, ("zz", "xx"))]
    both = learn_and_score(roberta, sets, [CONFIG])
    alone = learn_and_score(roberta, [ScoredTask(POS(), examples, ("zz",))], [CONFIG])
    assert list(dict.fromkeys((record.task, record.language) for record in both.records)) == [
        *(("pos", name) for name in ("en", "xx")),
        *(("other", name) for name in ("en", "zz", "xx")),
    ]
    assert both.files["other/test-xx.tsv"] == both.files["pos/test-xx.tsv"]
    assert scores(both, "zz", "other") == scores(alone, "zz")
    assert both.files["other/test-en.tsv"] == alone.files["pos/test-en.tsv"]


def test_a_task_that_learns_something_else_is_refused(roberta: Path, examples: TaskFolder, tmp_path: Path) -> None:
    train, test = (tmp_path / f"{name}.conllu" for name in ("test", "train"))
    folder = write_natural_task("pos", TaskFiles((train,), (test,), (test,)), {"xx": (test,)}, tmp_path / "other")
    sets = [ScoredTask(POS(), examples, ("xx",)), ScoredTask(OtherPOS(), TaskFolder.open(folder), ("xx",))]
    with pytest.raises(BadInput, match="not the training examples of pos, whose model answers other too"):
        learn_and_score(roberta, sets, [CONFIG])


def test_a_sample_is_what_is_learnt_from(roberta: Path, examples: TaskFolder, tmp_path: Path) -> None:
    """As if the other examples were not there; and one that is too large is refused."""
    sets = [ScoredTask(POS(), examples, ("xx",))]
    measurement = learn_and_score(roberta, sets, [CONFIG], on_curve=True, sample=20)
    assert {record.examples for record in measurement.records} == {20}
    assert {record.examples for record in learn_and_score(roberta, sets, [CONFIG], on_curve=True).records} == {60}
    train, reader = Split(examples.path("train"), POS()), Reader.of_checkpoint(roberta)
    labels = POS().labels(train.gold)
    part = train.encode(labels, reader, 128).sample(20)
    model = finetune(roberta, part, POS().head, len(labels), CONFIG, 3, CPU)
    test = Split(examples.path("test", "xx"), POS())
    rows = test.encode(labels, reader, 128)
    assert measurement.files["pos/test-xx.tsv"] == submission(*test.decode(rows, model.answers(rows), labels))
    with pytest.raises(BadInput, match="a learning curve of 61 examples of 60"):
        learn_and_score(roberta, sets, [CONFIG], sample=61)
