"""A study's cells, mistakes and fingerprints."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from derive.sources.files import Files
from experiments.override import override
from experiments.study import Study
from pretrain.objectives.mlm import MLM


def test_cells_are_all_combinations_with_whole_seeds_first(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,inv"])
    names = [cell.name for cell in made.cells]
    assert names[:2] == ["trans/MLM/seed-0", "trans/ALIGN-MLM/seed-0"]
    assert names[4] == "trans/MLM/seed-1"
    assert len(set(names)) == len(names) == 8


def test_every_mistake_is_told(tiny: Study) -> None:
    made = replace(
        tiny, seeds=(), threads=0, finetune={}, objectives=(MLM(share=0.1), MLM()), model=replace(tiny.model, heads=3)
    )
    told = "; ".join(made.mistakes())
    for said in ("seeds names", "threads is", "finetune names", "objectives names one twice: MLM, MLM", "model.hidden"):
        assert said in told
    assert tiny.mistakes() == []


LANGUAGES = ["source.size=601", "source.language.seed=1", "vocabulary=601", "dictionary.share=0.5"]
WEIGHTS = ["model.layers=2", "model.dropout=0.3", "train.steps=13", "train.learning_rate=1e-3"]
NEITHER = ["scale=other", "threads=2", "finetune.pos.epochs=2", "seeds=0,1", "objectives=MLM"]


@pytest.mark.parametrize("setting", LANGUAGES)
def test_what_the_languages_depend_on_changes_both_fingerprints(tiny: Study, setting: str) -> None:
    made = override(tiny, [setting])
    assert made.data_fingerprint != tiny.data_fingerprint
    assert made.run_fingerprint(tiny.cells[0]) != tiny.run_fingerprint(tiny.cells[0])


def test_other_languages_change_no_run(tiny: Study) -> None:
    made = override(tiny, ["transforms=trans,trans.inv"])
    assert made.data_fingerprint != tiny.data_fingerprint
    assert made.run_fingerprint(tiny.cells[0]) == tiny.run_fingerprint(tiny.cells[0])


@pytest.mark.parametrize("setting", WEIGHTS)
def test_what_the_weights_depend_on_changes_the_run_only(tiny: Study, setting: str) -> None:
    made = override(tiny, [setting])
    assert made.data_fingerprint == tiny.data_fingerprint
    assert made.run_fingerprint(tiny.cells[0]) != tiny.run_fingerprint(tiny.cells[0])


@pytest.mark.parametrize("setting", NEITHER)
def test_what_neither_depends_on_changes_none(tiny: Study, setting: str) -> None:
    made = override(tiny, [setting])
    assert made.data_fingerprint == tiny.data_fingerprint
    assert made.run_fingerprint(tiny.cells[0]) == tiny.run_fingerprint(tiny.cells[0])


def test_every_cell_has_a_fingerprint_of_its_own(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv"])
    assert len({made.run_fingerprint(cell) for cell in made.cells}) == len(made.cells)
    changed = replace(made.cells[0], objective=MLM(share=0.2))
    assert made.run_fingerprint(changed) != made.run_fingerprint(replace(changed, objective=MLM()))


def test_files_count_by_what_is_in_them(tiny: Study, tmp_path: Path) -> None:
    here, there = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (here, there):
        path.write_text("One sentence .\n", encoding="utf-8")
    first, second = (replace(tiny, source=Files(text=(path,))) for path in (here, there))
    assert first.data_fingerprint == second.data_fingerprint
    there.write_text("Another sentence .\n", encoding="utf-8")
    assert replace(second).data_fingerprint != first.data_fingerprint


def test_a_study_and_its_cells_travel_to_other_processes(tiny: Study) -> None:
    assert pickle.loads(pickle.dumps((tiny, tiny.cells))) == (tiny, tiny.cells)
