import doctest
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import pipeline

import calque
from calque.analysis.checkpoint import Checkpoint
from calque.derive.errors import BadInput
from calque.experiments.settings.catalogue import named_study
from calque.experiments.study.measures import read_measured
from calque.pretrain.model import main_layer
from tests.experiments.conftest import TINY, Done, finished

ROOT, NAME = Path(__file__).parents[2], "trans.inv"
PAGE = (ROOT / "docs" / "causes-tutorial.md").read_text()


@pytest.fixture(scope="module")
def model(done):
    return calque.load(done.model("MLM").checkpoint)


@pytest.fixture(scope="module")
def tuned(done):
    return done.session.finetune(f"{NAME}/MLM/seed-0")


@pytest.fixture
def copied(done, tmp_path):
    return Done(shutil.copytree(done.root, tmp_path / "runs"), done.study)


def test_alignment_equals_the_studys_records(done, model):
    records = read_measured(done.measures(done.model("MLM"))["alignment"])[1]
    assert model.alignment() == pytest.approx({one.metric: one.value for one in records if one.step == 12})


def test_fine_tuning_equals_the_studys(done, tuned):
    (record,) = [r for r in done.records(done.model("MLM")) if (r.measure, r.metric) == ("ZS", "accuracy")]
    score = tuned.score()
    assert (score.value, score.count, score.items) == (record.value, record.count, record.items)


def test_missing_parts_of_a_study_are_named(copied, tmp_path):
    alone = calque.load(shutil.copytree(copied.model("MLM").checkpoint, tmp_path / "alone"))
    assert replace(alone, facts={"identity": alone.identity}).data is None  # as in runs of earlier versions
    for method in (alone.rows, alone.alignment, lambda: alone.derive("the cook .")):
        with pytest.raises(BadInput, match="no parent folder"):
            method()
    name = f"{NAME}/MLM/seed-0"
    for words, expected in (((name, "klingon"), "no task is called"), (("MLM", "pos"), "no model is called")):
        with pytest.raises(BadInput, match=expected):
            copied.session.finetune(*words)
    for folder in copied.home.glob("tasks/pos-*"):
        shutil.rmtree(folder)
    with pytest.raises(BadInput, match="tasks/pos"):
        copied.session.finetune(name)


def output(session, capsys):
    seeds = f"range({len(session.study.seeds)})"
    exec(CODE.replace('calque.study("lesson")', "session").replace("range(4)", seeds), {"session": session})
    return rows_of(capsys.readouterr().out)


def rows_of(text):
    return [(line[:36].strip(), *map(float, line[36:].split())) for line in text.splitlines()[1:]]


CODE, SHOWN = (
    re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0] for kind in ("python", "text")
)


@pytest.mark.slow
def test_page_program_equals_the_study(done, capsys):
    found = output(done.session, capsys)
    assert [name for name, *_ in found] == [name for name, *_ in rows_of(SHOWN)]
    for objective, (_, aligned, score) in zip(("MLM", "ALIGN-MLM"), found[::3], strict=True):
        records = {
            (r.measure, r.metric): 100 * r.value for r in done.records(done.model(objective)) if r.step == 12
        }
        expected = records["alignment", "held-out"], records["ZS", "accuracy"]
        assert (aligned, score) == pytest.approx(expected, abs=0.051)


@pytest.mark.slow
def test_page_output_and_method_examples_are_right(tmp_path, capsys):
    lesson = finished(tmp_path / "runs", named_study("lesson"))
    model, runner = calque.load(lesson.model("MLM", seed=1).checkpoint), doctest.DocTestRunner()
    for name, method in vars(Checkpoint).items():
        examples = (getattr(method, "__doc__", None) or "").replace("  # doctest: +SKIP", "")
        runner.run(doctest.DocTestParser().get_doctest(examples, {"model": model}, name, None, None))
    assert runner.tries > 3 and not runner.failures
    found, shown = output(lesson.session, capsys), rows_of(SHOWN)
    assert [name for name, *_ in found] == [name for name, *_ in shown]
    numbers = np.array([[each[1:] for each in rows] for rows in (found, shown)])
    assert np.abs(numbers[0] - numbers[1]).max() < 3, "processors round differently"


def test_interface_doctests_pass(monkeypatch):
    monkeypatch.chdir(ROOT)
    tried = doctest.testmod(calque)
    assert tried.attempted > 8 and not tried.failed


def test_fill_equals_transformers_pipeline(model):
    fill = pipeline("fill-mask", model=str(model.folder))
    text = "Sara <mask> two apples ."
    ours, theirs = model.fill(text, count=7), fill(text, top_k=7)
    assert [guess.probability for guess in ours] == pytest.approx([one["score"] for one in theirs], rel=1e-5)
    assert {guess.language for guess in ours} <= {*model.languages}
    same = [
        (guess.word, one["token_str"].strip())
        for guess, one in zip(ours, theirs, strict=True)
        if guess.language == "source"
    ]
    assert same and all(a == b for a, b in same)


def test_fill_uses_ids_of_the_language(model, done):
    words = calque.derive("Sara ate two apples .", NAME).words
    text = " ".join(["<mask>", *words[1:]])
    shift = np.load(done.data / NAME / "image.npy")
    ids = [shift[i] for i in model.tokenizers["source"]("<mask> two ate Sara .")["input_ids"]]
    assert model.tokenizers[NAME](text)["input_ids"] == ids
    with torch.inference_mode():
        scores = model.model(input_ids=torch.tensor([ids])).logits[0, 1].softmax(-1)
    assert model.fill(text, NAME, 1)[0].probability == pytest.approx(float(scores.max()))


def test_nearest_types_equal_brute_force(model):
    table = model.model.get_input_embeddings().weight.detach().numpy()
    (words, vectors), (others, theirs) = (
        ([model.name(i)[0] for i in ids.tolist()], table[ids]) for ids in map(model.ids, ("source", NAME))
    )
    assert len(words) == len(vectors) == len(theirs) == len(others)
    word = next(word for word in words if len(word) > 3 and words.count(word) == 1)
    own = vectors[words.index(word)]
    cosines = theirs @ own / np.linalg.norm(theirs, axis=1) / np.linalg.norm(own)
    found = model.nearest(word, among=NAME, count=3)
    assert [one.cosine for one in found] == pytest.approx(sorted(cosines, reverse=True)[:3], rel=1e-4)
    assert [one.word for one in found] == [others[i] for i in np.argsort(-cosines)[:3]]
    everywhere = model.nearest(word, count=len(words) + len(others) - 1)
    assert word not in [one.word for one in everywhere if one.language == "source"] and len(everywhere) > len(
        words
    )


def test_states_of_words_equal_transformers(model):
    words = "Sara ate two apples .".split()
    ids = model.tokenizers["source"](" " + " ".join(words), return_tensors="pt")
    with torch.inference_mode():
        layers = model.model(input_ids=ids["input_ids"], output_hidden_states=True).hidden_states
    hidden, place = layers[main_layer(len(layers) - 1)][0], 1
    for word, state in zip(model.pieces(words), model.states(words), strict=True):
        assert torch.allclose(state, hidden[place : place + len(word)].mean(0), atol=1e-5)
        place += len(word)
    assert place == len(hidden) - 1


def test_wrong_calls_are_rejected(model):
    calls = [
        (model.fill, ("no mask here",)),
        (model.fill, ("<mask> and <mask>",)),
        (model.fill, ("<mask>", "klingon")),
        (model.nearest, ("xyzzyplugh",)),
        (model.ids, ("klingon",)),
        (calque.derive, ("One . Two .", "inv")),
        (calque.derive, ("a b", "klingon")),
        (calque.align, (["a"], [])),
        (calque.study, ("pocket", "train.stepz=3")),
        (calque.study, ("pockets",)),
    ]
    for call, arguments in calls:
        with pytest.raises(BadInput):
            call(*arguments)


def test_finished_study_returns_the_reports_records(done):
    session = calque.study("pocket", *TINY, runs=done.root)
    assert session.study == done.study
    folder = session.run(jobs=1)
    assert folder == session.report and (folder / "report.html").is_file()
    rows = session.records()
    lines = (folder / "records.jsonl").read_text().splitlines()
    assert len(rows) == len(lines) > 10
    assert set(rows["objective"]) == {"MLM", "ALIGN-MLM"} and set(rows["study"]) == {"pocket"}
    assert calque.records(folder).equals(rows)
