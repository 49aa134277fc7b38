"""A transfer grid's cells, steps, mistakes, folders and fingerprints."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from derive.dictionary import DictionaryConfig
from derive.sources.files import Files
from experiments.override import override
from experiments.step import with_needs
from experiments.transfer_grid import TransferGrid
from pretrain.objective import After
from pretrain.objectives.align_mlm import AlignMLM
from pretrain.objectives.mlm import MLM

ROOT = Path("runs")


def folders(study: TransferGrid) -> dict[str, str]:
    """The names of the folders of the first cell's steps, by kind: its languages, its run and what was measured."""
    languages = study.languages(ROOT)
    run = study.pretraining(languages, study.cells[0])
    examples = study.examples(ROOT)
    made = {"languages": languages.folder.name, "run": run.folder.name}
    made |= {f"examples of {step.task}": step.folder.name for step in examples}
    return made | {one.measure: one.fingerprint for one in study.evaluations(run, examples)}


def changed(tiny: TransferGrid, *settings: str) -> set[str]:
    """Which of them have another name with other values."""
    before, after = folders(tiny), folders(override(tiny, settings))
    return {kind for kind in before.keys() | after.keys() if before.get(kind) != after.get(kind)}


EXAMPLES = "examples of pos"
EVALUATIONS = {"order", "labels", "links", "alignment", "sharing", "forms", "pos"}


def test_a_task_that_the_source_lacks_is_a_mistake(tiny: TransferGrid) -> None:
    study = replace(tiny, source=Files(text=(Path("a.txt"),)))
    assert study.mistakes() == ["source has no examples of 'pos'; there are none"]


def test_cells_are_all_combinations_with_whole_seeds_first(tiny: TransferGrid) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,inv"])
    names = [cell.name for cell in made.cells]
    assert names[:2] == ["trans/MLM/seed-0", "trans/ALIGN-MLM/seed-0"]
    assert names[4] == "trans/MLM/seed-1"
    assert len(set(names)) == len(names) == 8


def test_every_mistake_is_told(tiny: TransferGrid) -> None:
    objectives = MLM(mask_rate=0.1), MLM()
    made = replace(tiny, seeds=(), threads=0, finetune={}, objectives=objectives, model=replace(tiny.model, heads=3))
    told = "; ".join(made.mistakes())
    for said in ("seeds names", "threads is", "finetune names", "objectives names one twice: 'MLM'", "model.hidden"):
        assert said in told
    assert tiny.mistakes() == []


def test_the_tree(tiny: TransferGrid) -> None:
    languages = tiny.languages(ROOT)
    run = tiny.pretraining(languages, tiny.cells[1])
    home = ROOT / "pocket"
    assert tiny.home(ROOT) == home
    assert tiny.report(ROOT, changed=False) == home / "report"
    assert languages.folder == home / f"languages-{languages.fingerprint}"
    assert run.folder == home / "trans.inv" / "ALIGN-MLM" / f"seed-0-{run.fingerprint}"
    assert {one.folder for one in tiny.evaluations(run, tiny.examples(ROOT))} == {
        run.folder / f"{one.measure}-{one.fingerprint}" for one in tiny.evaluations(run, tiny.examples(ROOT))
    }


def test_a_changed_study_has_a_report_of_its_own(tiny: TransferGrid) -> None:
    other = override(tiny, ["finetune.pos.epochs=2"])
    places = {study.report(ROOT, changed=True) for study in (tiny, other)} | {tiny.report(ROOT, changed=False)}
    assert len(places) == 3


@pytest.mark.parametrize(
    "setting", ["source.size=601", "source.language.seed=1", "vocabulary=601", "dictionary.fraction=0.5"]
)
def test_what_the_languages_depend_on_changes_every_run(tiny: TransferGrid, setting: str) -> None:
    assert changed(tiny, setting) - {EXAMPLES} == {"languages", "run", *EVALUATIONS}


def test_other_languages_change_no_run(tiny: TransferGrid) -> None:
    assert changed(tiny, "transforms=trans.inv,trans") == {"languages", EXAMPLES}


def test_the_size_of_a_task_changes_its_examples_and_their_scores_only(tiny: TransferGrid) -> None:
    assert changed(tiny, "source.pos.train=41") == {EXAMPLES, "pos"}
    assert changed(tiny, "source.ner.train=41") == set()


@pytest.mark.parametrize(
    "setting", ["model.layers=2", "model.dropout=0.3", "train.steps=13", "train.learning_rate=1e-3"]
)
def test_what_the_weights_depend_on_changes_the_run_and_its_evaluations(tiny: TransferGrid, setting: str) -> None:
    assert changed(tiny, setting) == {"run", *EVALUATIONS}


def test_a_task_s_values_change_its_evaluation_only(tiny: TransferGrid) -> None:
    assert changed(tiny, "finetune.pos.epochs=2") == {"pos"}


@pytest.mark.parametrize(
    "setting",
    ["paper=xlm_align", "threads=2", "seeds=0,1", "objectives=MLM", "train.log_every=2", "train.probe_every=0"],
)
def test_what_decides_no_bytes_changes_no_name(tiny: TransferGrid, setting: str) -> None:
    assert changed(tiny, setting, "train.save_every=0") == set()


def test_a_new_format_changes_the_name_of_what_it_makes(tiny: TransferGrid, monkeypatch: pytest.MonkeyPatch) -> None:
    before, run = folders(tiny), tiny.pretraining(tiny.languages(ROOT), tiny.cells[0])
    monkeypatch.setattr(type(tiny.evaluations(run, tiny.examples(ROOT))[0]), "format", 99)
    after = folders(tiny)
    assert {kind for kind in before if before[kind] != after[kind]} == {
        tiny.evaluations(run, tiny.examples(ROOT))[0].measure
    }


@pytest.mark.parametrize(
    ("setting", "other"),
    [
        ("train.steps=13", False),
        ("finetune.pos.epochs=2", False),
        ("seeds=0,1", False),
        ("source.pos.train=41", True),
        ("transforms=trans.inv,trans", True),
        ("vocabulary=601", True),  # which says what words a language shares with the source
    ],
)
def test_floors_depend_on_languages_and_examples_alone(tiny: TransferGrid, setting: str, other: bool) -> None:
    before, after = (
        [step.folder for step in study.floors(ROOT)]
        for study in (tiny, override(tiny, [setting, "train.save_every=0"]))
    )
    assert (before != after) == other


def test_no_two_steps_share_a_folder(tiny: TransferGrid) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv", "objectives=MLM,MLM-after-ALIGN-MLM"])
    steps = made.steps(ROOT)
    assert len({step.folder for step in steps}) == len(steps) == len(with_needs(steps))
    alike = replace(made, objectives=(MLM(mask_rate=0.2),)), replace(made, objectives=(MLM(),))
    runs = {study.pretraining(study.languages(ROOT), study.cells[0]).folder for study in alike}
    assert len(runs) == 2


def test_files_count_by_what_is_in_them(tiny: TransferGrid, tmp_path: Path) -> None:
    here, there = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (here, there):
        path.write_text("One sentence .\n", encoding="utf-8")
    first, second = (replace(tiny, source=Files(text=(path,)), finetune={}) for path in (here, there))
    assert folders(first) == folders(second)
    there.write_text("Another sentence .\n", encoding="utf-8")
    assert folders(first)["languages"] != folders(second)["languages"]


def test_a_study_and_its_steps_travel_to_other_processes(tiny: TransferGrid) -> None:
    steps = tiny.steps(ROOT)
    study, there = pickle.loads(pickle.dumps((tiny, steps)))
    assert study == tiny
    assert [step.folder for step in there] == [step.folder for step in steps]


def test_without_the_switch_all_seeds_have_the_same_data(tiny: TransferGrid) -> None:
    made = override(tiny, ["seeds=0,1"])
    derived = {step.folder for step in made.steps(ROOT) if step.stage == "derive"}
    assert derived == {made.languages(ROOT).folder, *(step.folder for step in made.examples(ROOT))}
    assert made.redrawn == () and made.run_of(made.cells[0], "seed-0").redrawn == ()


def test_with_it_each_seed_has_its_own_and_the_first_those_of_before(tiny: TransferGrid) -> None:
    plain, drawn = (override(tiny, ["seeds=0,1,2", f"redraw={switch}"]) for switch in ("false", "true"))
    before, after = ({step.folder for step in study.steps(ROOT)} for study in (plain, drawn))
    of_first = {step.folder for step in override(tiny, ["seeds=0"]).steps(ROOT)}
    assert before & after == of_first
    derived = [step.title for step in drawn.steps(ROOT) if step.stage == "derive"]
    assert derived == ["languages", "examples of pos"] * 3
    assert len({step.folder for step in drawn.steps(ROOT) if step.stage == "derive"}) == 6
    run = drawn.run_of(drawn.cells[-1], "seed-2")
    assert run.redrawn == ("the lexicon", "the text", "the task items", "the dictionary")
    assert {part["seed"] for part in run.languages[1].parts} == {2}


def test_a_seed_that_could_draw_nothing_but_the_model_is_refused(tiny: TransferGrid, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rains.\n")
    files = replace(tiny, source=Files(text=(tmp_path / "a.txt",)), finetune={}, redraw=True)
    assert [mistake for mistake in files.mistakes() if "redraw" in mistake] == []
    told = "; ".join(replace(files, dictionary=DictionaryConfig(by="frequency")).mistakes())
    assert "redraw: nothing but the model is drawn at random here" in told


def test_objectives_take_as_many_steps_as_their_paces_say(tiny: TransferGrid) -> None:
    made = replace(tiny, objectives=(MLM(), AlignMLM(), After(AlignMLM(), MLM())), paces={"ALIGN-MLM": 0.5})
    assert made.scale == f"{tiny.scale}; not all objectives with as many steps"
    assert replace(made, paces={"ALIGN-MLM": 1.0}).scale == tiny.scale
    assert made.mistakes() == []
    steps = {cell.objective.name: made.train_of(cell).steps for cell in made.cells}
    whole = made.train.steps
    assert steps == {"MLM": whole, "ALIGN-MLM": round(whole / 2), "ALIGN-MLM-after-MLM": whole - round(whole / 2)}
    slower = replace(made, paces={"ALIGN-MLM-after-MLM": 2.0})
    (start,) = slower.starts
    after = next(cell for cell in slower.cells if cell.start)
    assert slower.train_of(start).steps == whole and slower.train_of(after).steps == whole
    assert replace(made, paces={"MLM": 0.0}).mistakes() == ["paces.MLM is above 0, not 0"]
    assert replace(made, paces={"XLM": 1.0}).mistakes() == ["paces: there is no objective 'XLM' here"]
