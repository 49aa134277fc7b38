from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS, Record, Run
from calque.experiments.settings.catalogue import study
from tests.experiments.committed import ROOT

DERIVED = (
    "align_mlm_pocket",
    "control",
    "growth",
    "knowledge",
    "lesson",
    "objectives_pocket",
    "objectives_seconds",
    "morphology",
    "order_dial",
    "overlap",
    "pocket",
    "xlm_align_ablations",
    "xlm_align_pocket",
)


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
    for record in json_rows.read(ROOT / name / RECORDS, Record):
        last[record.run] = max(record.step, last.get(record.run, 0))
    theirs = sorted((key(run), last[run.id]) for run in before.values())
    assert sorted((key(model.about), model.training.all_steps) for model in models) == theirs
    committed = {key(run): run for run in before.values()}
    for model in models:
        now, run = model.about, committed[key(model.about)]
        assert (now.layers, now.main_layer, now.redrawn) == (run.layers, run.main_layer, run.redrawn)
        assert (now.start.fraction if now.start else None) == (run.start.fraction if run.start else None)
        for ours, older in zip(parts(now), parts(run), strict=True):
            assert older.items() <= ours.items()
