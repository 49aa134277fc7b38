import json
import socket
from pathlib import Path

import pytest

from calque.analysis.papers.published import corpora
from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS, Run
from calque.experiments.settings.catalogue import named_study, studies
from tests.experiments.committed import ROOT
from tests.experiments.studies.golden import PATH, values

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("name", studies())
def test_study_values_are_unchanged(name):
    assert values(name) == GOLDEN[name]


DERIVED = """align_mlm_pocket control lesson objectives_pocket objectives_seconds
    pocket xlm_align_ablations xlm_align_pocket""".split()


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
    models = named_study(name).models(Path())
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


@pytest.fixture
def planned(tmp_path, monkeypatch):

    def refuse(*_):
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    return named_study("xlm_align")


def test_study_values_are_those_of_table_11(planned):
    model, train = planned.model, planned.train
    assert (model.layers, model.hidden, model.ffn, model.heads) == (12, 768, 3072, 12)
    assert (train.steps, train.batch, train.warmup, train.clip) == (150_000, 2_048, 10_000, 1.0)
    assert (train.learning_rate, train.betas, train.epsilon, train.weight_decay) == (
        2e-4,
        (0.9, 0.98),
        1e-6,
        0.01,
    )
    assert planned.objectives[0].mistakes(model) == []
    (dwa,) = [part for part in planned.objectives[0].parts if part.name != "MLM"]
    assert (dwa.labelling_layer(12), dwa.filtering, dwa.first) == (10, True, "columns")
    assert planned.mistakes() == []


def test_study_reads_every_language_pair_of_the_paper(planned):
    of = planned.languages
    assert of.texts.keys() == corpora("xlm_align")["CCNet"].keys() and len(of.texts) == 87
    assert {"-".join(pair) for pair in of.bitexts} == corpora("xlm_align")["bitexts"].keys()
    assert next(iter(of.texts)) == "en"
    files = [path for text in of.texts.values() for path in text.paths]
    # CC-100, and Wikipedia for the six languages that it lacks.
    assert len(set(files)) == len(files) == 88 + 7
