"""A study in which models begin where others ended: pretrained once, counted, evaluated and reported."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest
from experiments.steps.pretraining import GivenModel
from experiments.transfer_grid import TransferGrid

from analysis.records.record import AER, LABELS
from derive.errors import BadInput
from derive.files import MANIFEST, sha256
from experiments.names import objective
from experiments.override import override
from experiments.plan import describe, plan
from tests.experiments.conftest import Done, Heard, finished

OBJECTIVES = ("MLM", "XLM-ALIGN", "XLM-ALIGN-after-MLM", "XLM-ALIGN-no-dwa-after-MLM", "MLM-after-ALIGN-MLM-for-75")


@pytest.fixture(scope="module")
def study(tiny: TransferGrid) -> TransferGrid:
    """The study of a minute, with cold starts."""
    return override(replace(tiny, paper="xlm_align"), [f"objectives={','.join(OBJECTIVES)}"])


@pytest.fixture(scope="module")
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module")
def done(study: TransferGrid, heard: Heard, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All of it, two models side by side."""
    return finished(Done(tmp_path_factory.mktemp("starts"), study), 2, heard)


def test_a_start_is_shared_and_takes_its_part_of_the_steps(study: TransferGrid) -> None:
    assert [start.objective.name for start in study.starts] == ["MLM", "ALIGN-MLM"]
    assert [study.train_of(start).steps for start in study.starts] == [6, 9]
    assert [study.train_of(cell).steps for cell in study.cells] == [12, 12, 6, 6, 3]
    languages = study.languages(Path())
    folders = {study.pretraining(languages, cell).folder for cell in (*study.starts, *study.cells)}
    assert len(folders) == len(study.starts) + len(study.cells)


def test_models_begin_with_their_starts_weights(done: Done, heard: Heard) -> None:
    digests = [sha256(done.run(start) / "checkpoint" / "model.safetensors") for start in done.study.starts]
    begun = [done.step(cell).open().facts["identity"].get("start") for cell in done.study.cells]
    assert begun == [None, None, digests[0], digests[0], digests[1]]
    assert heard.finished.count("pretrain trans.inv/ALIGN-MLM/seed-0") == 1
    for start in done.study.starts:
        assert {path.name for path in done.run(start).iterdir()} == {"checkpoint", "metrics.jsonl", MANIFEST}


def test_what_is_finished_is_not_done_again(done: Done) -> None:
    again = Heard()
    done.compute(jobs=2, report=again)
    assert again.begun == []


def test_one_after_the_other_gives_the_same_weights(done: Done, tmp_path: Path) -> None:
    alone = Done(tmp_path, replace(done.study, objectives=done.study.objectives[2:3]))
    alone.compute("pretrain")
    (cell,) = alone.study.cells
    file = Path("checkpoint") / "model.safetensors"
    assert sha256(alone.run(cell) / file) == sha256(done.run(cell) / file)


def test_steps_are_counted_from_the_beginning_of_the_start(done: Done) -> None:
    rows = {cell.objective.name: done.records(cell) for cell in done.study.cells}
    steps = {name: sorted({r.step for r in found if r.measure == LABELS}) for name, found in rows.items()}
    assert steps == {
        "MLM": [],
        "XLM-ALIGN": [4, 8, 12],
        "XLM-ALIGN-after-MLM": [10, 12],
        "XLM-ALIGN-no-dwa-after-MLM": [],
        "MLM-after-ALIGN-MLM-for-75": [],
    }
    for found in rows.values():
        layers = {(r.layer, r.joint): r for r in found if r.measure == AER}
        assert set(layers) == {(layer, joint) for layer in (0, 1) for joint in (False, True)}
        assert len({r.count for r in layers.values()}) == 1 and all(0 <= r.value <= 1 for r in layers.values())


def test_the_report_is_of_xlm_align(done: Done) -> None:
    names = {path.stem for path in done.report.glob("*.md")}
    assert names == {"claims", "starts", "table-3"}
    figures = {path.stem for path in (done.report / "figures").glob("*.png")}
    assert {"figure-labels", "figure-layers"} <= figures
    starts, third = ((done.report / f"{name}.md").read_text() for name in ("starts", "table-3"))
    assert "XLM-Align, no DWA after MLM" in starts
    assert third.count("published") == 4 and "without DWA" in third
    page = (done.report / "report.html").read_text(encoding="utf-8")
    assert "XLM-Align after MLM has a lower AER than XLM-Align" in page


def test_a_plan_lists_what_models_begin_with(study: TransferGrid) -> None:
    made = plan(study, 1)
    assert [run.title for run in made.runs] == [cell.name for cell in (*study.starts, *study.cells)]
    assert made.runs[0].cost.flops < made.runs[2].cost.flops
    said = describe(study, 1)
    assert "5 models of 12 steps" in said and "2 more runs make what some of them begin with" in said
    rows = [line.split()[:2] for line in said.splitlines() if line.startswith("trans.inv/MLM/seed-0 ")]
    assert [steps for _, steps in rows] == ["6", "12"]  # the start of others, and a model that is MLM's alone


def test_too_few_steps_for_a_start_are_told(study: TransferGrid) -> None:
    told = "; ".join(override(study, []).mistakes() + replace(study, train=replace(study.train, warmup=4)).mistakes())
    assert told.count("train.warmup") == 1 and "MLM-after-ALIGN-MLM-for-75, of 3 steps: train.warmup" in told


@pytest.mark.parametrize(
    "name", ["XLM-ALIGN-after-XLM", "XLM-after-MLM", "MLM-after-MLM-after-MLM", "MLM-after-MLM-for-0"]
)
def test_starts_that_cannot_be_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="objective"):
        objective(name)


def test_a_study_may_begin_with_any_checkpoint(done: Done, tmp_path: Path) -> None:
    begun = done.run(done.study.starts[0]) / "checkpoint"
    places = Done(tmp_path, override(done.study, [f"start={begun}", "objectives=XLM-ALIGN", "train.steps=6"]))
    (cell,) = places.study.cells
    assert places.run(cell).name != replace(places, study=replace(places.study, start=None)).run(cell).name
    start = places.study.run_of(cell, "run").start
    assert (
        start and start.objective.name == GivenModel(begun).fingerprint
    )  # records tell it from one drawn from scratch
    assert start.objective.parts == ({"kind": "GivenModel", "weights": sha256(begun / "model.safetensors")},)
    places.compute("pretrain")
    (after,) = (cell for cell in done.study.cells if cell.objective.name == "XLM-ALIGN-after-MLM")
    file = Path("checkpoint") / "model.safetensors"
    assert sha256(places.run(cell) / file) == sha256(done.run(after) / file)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_what_says_how_weights_are_read_is_part_of_a_start(done: Done, tmp_path: Path, file: str) -> None:
    """The same weights with another activation, or other types, are another model."""
    begun = done.run(done.study.starts[0]) / "checkpoint"
    changed = tmp_path / "changed"
    shutil.copytree(begun, changed)
    assert GivenModel(changed).fingerprint == GivenModel(begun).fingerprint
    text = (changed / file).read_text(encoding="utf-8")
    (changed / file).write_text(text.replace("{", "{ ", 1), encoding="utf-8")
    assert GivenModel(changed).fingerprint != GivenModel(begun).fingerprint


def test_a_start_that_is_no_checkpoint_is_refused(study: TransferGrid, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"start: {tmp_path}: no model here"):
        override(study, [f"start={tmp_path}"])
    with pytest.raises(BadInput, match=r"start: no folder 'someone/encoder@main'; .* the 40 digits of a commit"):
        override(study, ["start=someone/encoder@main"])
    places = Done(tmp_path, replace(study, start=tmp_path))
    with pytest.raises(BadInput, match=r"no weights: expected model\.safetensors"):
        places.run(places.study.cells[0])


def test_a_study_may_begin_with_a_model_of_the_hub(done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is at hand, as the hub's client leaves it; the run is the one that its folder begins."""
    begun, commit = done.run(done.study.starts[0]) / "checkpoint", "0a" * 20
    snapshot = tmp_path / "models--someone--encoder" / "snapshots" / commit
    shutil.copytree(begun, snapshot)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    given, named = (
        override(done.study, [f"start={start}", "objectives=XLM-ALIGN"])
        for start in (begun, f"someone/encoder@{commit}")
    )
    assert Done(tmp_path, given).run(given.cells[0]) == Done(tmp_path, named).run(named.cells[0])
    assert named.given and named.given.checkpoint == snapshot
    start = named.run_of(named.cells[0], "run").start
    assert start and start.objective.title == f"encoder@{commit}"
