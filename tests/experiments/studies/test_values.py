import json
from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS, Run
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.experiments.settings.catalogue import studies, study
from calque.experiments.studies import real_text
from tests.experiments.committed import ROOT
from tests.experiments.studies.golden import PATH, values

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("name", studies())
def test_study_values_are_unchanged(name):
    assert values(name) == GOLDEN[name]


def test_every_study_is_in_the_golden_file():
    assert GOLDEN.keys() == set(studies())


DERIVED = """align_mlm_pocket control growth knowledge lesson objectives_pocket objectives_seconds morphology
    order_dial overlap pocket xlm_align_ablations xlm_align_pocket""".split()


def key(run):
    names = tuple(language.name for language in run.languages)
    mixture, objective = (part.name if part else "" for part in (run.mixture, run.objective))
    return run.seed, names, objective, mixture


def parts(run):
    start = [run.start.objective] if run.start else []
    described = [*run.languages, run.objective, *start]
    return [part for each in described if each for part in each.parts]


@pytest.mark.parametrize("name", DERIVED)
def test_runs_are_those_that_the_study_would_train(name):
    models = study(name).models(Path())
    before = {(key(run), run.id): run for run in json_rows.read(ROOT / name / RUNS, Run)}
    last = {}
    for row in map(json.loads, (ROOT / name / RECORDS).read_text().splitlines()):
        last[row["run"]] = max(row.get("step", 0), last.get(row["run"], 0))
    theirs = sorted((key(run), last[run.id]) for run in before.values())
    assert sorted((key(model.about), model.training.all_steps) for model in models) == theirs
    committed = {key(run): run for run in before.values()}
    for model in models:
        now, run = model.about, committed[key(model.about)]
        assert (now.layers, now.main_layer, now.redrawn) == (run.layers, run.main_layer, run.redrawn)
        assert (now.start.fraction if now.start else None) == (run.start.fraction if run.start else None)
        for ours, older in zip(parts(now), parts(run), strict=True):
            assert older.items() <= ours.items()


TABLE = """
[pos]
languages = { fr = "French", de = "German" }
train = "ud/train.conllu"
dev = ["ud/a.conllu", "ud/b.conllu or ud/c.conllu"]
tests = "ud/{name}/{code}.conllu"
files = { held_out = 7 }
finetune = { epochs = 3 }

[nli]
languages = "fr de"
train = "train.tsv"
tests = "first-{code}.tsv or second-{code}.tsv"
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "tasks.toml").write_text(TABLE)
    return tmp_path / "tasks.toml"


def test_tasks_from_a_table(table, tmp_path):
    usual = FinetuneConfig(epochs=5, batch=9)
    tasks = real_text.tasks_of(table, tmp_path, usual)
    assert list(tasks) == ["pos", "nli"]
    pos, nli = tasks["pos"], tasks["nli"]
    assert (pos.finetune, nli.finetune) == (FinetuneConfig(epochs=3, batch=9), usual)
    assert pos.files and nli.files
    assert pos.files.train == (tmp_path / "ud/train.conllu",)
    assert pos.files.dev == (tmp_path / "ud/a.conllu", tmp_path / "ud/c.conllu")
    assert pos.files.held_out == 7
    assert pos.tests == {"fr": (tmp_path / "ud/French/fr.conllu",), "de": (tmp_path / "ud/German/de.conllu",)}
    assert nli.tests == {name: (tmp_path / f"second-{name}.tsv",) for name in ("fr", "de")}
    assert nli.files.test == ()
