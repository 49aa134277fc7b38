import doctest
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import pipeline

import calque
from calque.derive.errors import BadInput
from calque.derive.script import Transliterate
from calque.pretrain.run import CHECKPOINT
from tests.experiments.conftest import TINY

ROOT = Path(__file__).parents[2]
NAME = "trans.inv"


@pytest.fixture(scope="module")
def checkpoint(done):
    return calque.load(done.model("MLM").folder / CHECKPOINT)


def test_interface_doctests_pass(monkeypatch):
    monkeypatch.chdir(ROOT)
    tried = doctest.testmod(calque)
    assert tried.attempted > 8 and not tried.failed


def test_derived_sentences_record_word_origins():
    derived = calque.derive("Sara ate two apples .", "trans.inv")
    source = derived.source.words
    assert [Transliterate().spell(source[place]) for place in derived.origin] == [*derived.words]
    assert str(derived).count("\n") > 5


def test_align_returns_links():
    source, target = ["the cat", "the dog", "a dog", "a cat"], ["le chat", "le chien", "un chien", "un chat"]
    assert calque.align(source, target) == [[(0, 0), (1, 1)]] * 4
    with pytest.raises(BadInput):
        calque.align(source, target[:2])
    with pytest.raises(BadInput):
        calque.align(source, target, method="argmax")


def test_fill_equals_transformers_pipeline(checkpoint):
    fill = pipeline("fill-mask", model=str(checkpoint.folder))
    text = "Sara <mask> two apples ."
    ours, theirs = checkpoint.fill(text, count=7), fill(text, top_k=7)
    assert [guess.probability for guess in ours] == pytest.approx([one["score"] for one in theirs], rel=1e-5)
    assert {guess.language for guess in ours} <= {*checkpoint.languages}
    same = [
        (guess.word, one["token_str"].strip())
        for guess, one in zip(ours, theirs, strict=True)
        if guess.language == "source"
    ]
    assert same and all(a == b for a, b in same)


def test_fill_uses_ids_of_the_language(checkpoint, done):
    words = calque.derive("Sara ate two apples .", NAME).words
    text = " ".join(["<mask>", *words[1:]])
    shift = np.load(done.data / NAME / "image.npy")
    ids = [shift[i] for i in checkpoint.tokenizers["source"]("<mask> two ate Sara .")["input_ids"]]
    assert checkpoint.tokenizers[NAME](text)["input_ids"] == ids
    with torch.inference_mode():
        scores = checkpoint.model(input_ids=torch.tensor([ids])).logits[0, 1].softmax(-1)
    assert checkpoint.fill(text, NAME, 1)[0].probability == pytest.approx(float(scores.max()))


def test_nearest_types_equal_brute_force(checkpoint):
    words, vectors = checkpoint.embeddings("source")
    others, theirs = checkpoint.embeddings(NAME)
    assert len(words) == len(vectors) == len(theirs) == len(others)
    word = next(word for word in words if len(word) > 3 and words.count(word) == 1)
    own = vectors[words.index(word)]
    cosines = theirs @ own / np.linalg.norm(theirs, axis=1) / np.linalg.norm(own)
    found = checkpoint.nearest(word, among=NAME, count=3)
    assert [one.cosine for one in found] == pytest.approx(sorted(cosines, reverse=True)[:3], rel=1e-4)
    assert [one.word for one in found] == [others[i] for i in np.argsort(-cosines)[:3]]
    everywhere = checkpoint.nearest(word, count=len(words) + len(others) - 1)
    assert word not in [one.word for one in everywhere if one.language == "source"] and len(everywhere) > len(
        words
    )


def test_wrong_calls_are_rejected(checkpoint):
    calls = [
        (checkpoint.fill, ("no mask here",)),
        (checkpoint.fill, ("<mask> and <mask>",)),
        (checkpoint.fill, ("<mask>", "klingon")),
        (checkpoint.nearest, ("xyzzyplugh",)),
        (checkpoint.embeddings, ("klingon",)),
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


@pytest.mark.parametrize(
    "program",
    ["import calque", "from setuptools import build_meta; build_meta.get_requires_for_build_wheel()"],
)
def test_checkout_without_symlinks_explains_how_to_clone(program, tmp_path):
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "calque/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "calque" / "derive").write_text("../derive")
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={}, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
    assert "calque/derive" in ran.stderr and "git clone -c core.symlinks=true" in ran.stderr
