"""A study's models, steps, mistakes, folders and fingerprints."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from calque.derive.dictionary import DictionaryConfig
from calque.derive.sources.files import Files
from calque.experiments.measures import OrderDistance
from calque.experiments.override import override
from calque.experiments.step import with_needs
from calque.experiments.studies.align_mlm import align_mlm
from calque.experiments.study import Study
from calque.experiments.study_mistakes import study_mistakes
from calque.experiments.summary import scale
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from tests.experiments.conftest import Done

ROOT = Path("runs")


def folders(study: Study) -> dict[str, str]:
    """The names of the folders of the first model's steps, by kind: its languages, its run and what was measured."""
    done = Done(ROOT, study)
    model, *_ = done.models()
    made = {"languages": done.data.name, "run": model.folder.name}
    made |= {f"examples of {task}": step.folder.name for task, step in done.examples.items()}
    return made | {name: step.fingerprint for name, step in done.measures(model).items()}


def changed(tiny: Study, *settings: str) -> set[str]:
    """Which of them have another name with other values."""
    before, after = folders(tiny), folders(override(tiny, settings))
    return {kind for kind in before.keys() | after.keys() if before.get(kind) != after.get(kind)}


EXAMPLES = "examples of pos"
EVALUATIONS = {"order", "labels", "links", "alignment", "sharing", "forms", "pos"}


def test_a_task_that_the_source_lacks_is_a_mistake(tiny: Study) -> None:
    study = tiny.changed(source=Files(text=(Path("a.txt"),)))
    assert study_mistakes(study) == ["source has no examples of 'pos'; there are none"]


def test_models_are_all_combinations_with_whole_seeds_first(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv"])
    names = [model.name for model in made.models(ROOT)]
    assert names[:2] == ["trans/MLM/seed-0", "trans/ALIGN-MLM/seed-0"]
    assert names[4] == "trans/MLM/seed-1"
    assert len(set(names)) == len(names) == 8


def test_every_mistake_is_told(tiny: Study) -> None:
    objectives = MLM(mask_rate=0.1), MLM()
    made = replace(tiny, seeds=(), threads=0, objectives=objectives, model=replace(tiny.model, heads=3))
    told = "; ".join(study_mistakes(made))
    for said in ("seeds names", "threads is", "objectives names one twice: 'MLM'", "model.hidden"):
        assert said in told
    assert study_mistakes(tiny) == []


def test_the_tree(tiny: Study) -> None:
    done, home = Done(ROOT, tiny), ROOT / "pocket"
    model = done.model("ALIGN-MLM")
    assert (done.home, done.report) == (home, home / "report")
    assert done.data == home / f"languages-{done.languages.fingerprint}"
    assert done.examples["pos"].folder == home / "tasks" / f"pos-{done.examples['pos'].fingerprint}"
    assert model.folder == home / "trans.inv" / "ALIGN-MLM" / f"seed-0-{model.weights.fingerprint}"
    assert model.run.id == f"trans.inv/ALIGN-MLM/{model.folder.name}"
    assert {step.folder for step in done.measures(model).values()} == {
        model.folder / f"{name}-{step.fingerprint}" for name, step in done.measures(model).items()
    }


def test_a_changed_study_has_a_report_of_its_own(tiny: Study) -> None:
    other = override(tiny, ["tasks.pos.finetune.epochs=2"])
    places = {study.report(ROOT, changed=True) for study in (tiny, other)} | {tiny.report(ROOT, changed=False)}
    assert len(places) == 3


@pytest.mark.parametrize(
    "setting", ["source.size=601", "source.language.seed=1", "vocabulary=601", "dictionary.fraction=0.5"]
)
def test_what_the_languages_depend_on_changes_every_run(tiny: Study, setting: str) -> None:
    assert changed(tiny, setting) - {EXAMPLES} == {"languages", "run", *EVALUATIONS}


def test_other_languages_change_no_run(tiny: Study) -> None:
    assert changed(tiny, "transforms=trans.inv,trans") == {"languages", EXAMPLES}


def test_the_size_of_a_task_changes_its_examples_and_their_scores_only(tiny: Study) -> None:
    assert changed(tiny, "source.pos.train=41") == {EXAMPLES, "pos"}
    assert changed(tiny, "source.ner.train=41") == set()


@pytest.mark.parametrize(
    "setting", ["model.layers=2", "model.dropout=0.3", "train.steps=13", "train.learning_rate=1e-3"]
)
def test_what_the_weights_depend_on_changes_the_run_and_its_evaluations(tiny: Study, setting: str) -> None:
    assert changed(tiny, setting) == {"run", *EVALUATIONS}


def test_a_task_s_values_change_its_evaluation_only(tiny: Study) -> None:
    assert changed(tiny, "tasks.pos.finetune.epochs=2") == {"pos"}


@pytest.mark.parametrize(
    "setting",
    ["paper=xlm_align", "threads=2", "seeds=0,1", "objectives=MLM", "train.log_every=2", "train.probe_every=0"],
)
def test_what_decides_no_bytes_changes_no_name(tiny: Study, setting: str) -> None:
    assert changed(tiny, setting, "train.save_every=0") == set()


def test_a_new_format_changes_the_name_of_what_it_makes(tiny: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    before = folders(tiny)
    monkeypatch.setattr(OrderDistance, "format", 99)
    after = folders(tiny)
    assert {kind for kind in before if before[kind] != after[kind]} == {"order"}
    step = Done(ROOT, tiny).languages
    assert replace(step, format=99).folder != step.folder


@pytest.mark.parametrize(
    ("setting", "other"),
    [
        ("train.steps=13", False),
        ("tasks.pos.finetune.epochs=2", False),
        ("seeds=0,1", False),
        ("source.pos.train=41", True),
        ("transforms=trans.inv,trans", True),
        ("vocabulary=601", True),  # which says what words a language shares with the source
    ],
)
def test_floors_depend_on_languages_and_examples_alone(tiny: Study, setting: str, other: bool) -> None:
    before, after = (
        [step.folder for step in study.floors(ROOT, 0)]
        for study in (tiny, override(tiny, [setting, "train.save_every=0"]))
    )
    assert (before != after) == other


def test_no_two_steps_share_a_folder(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv", "objectives=MLM,MLM-after-ALIGN-MLM"])
    steps = made.steps(ROOT)
    assert len({step.folder for step in steps}) == len(steps) == len(with_needs(steps))
    alike = replace(made, objectives=(MLM(mask_rate=0.2),)), replace(made, objectives=(MLM(),))
    runs = {study.models(ROOT)[0].folder for study in alike}
    assert len(runs) == 2


def test_files_count_by_what_is_in_them(tiny: Study, tmp_path: Path) -> None:
    here, there = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (here, there):
        path.write_text("One sentence .\n", encoding="utf-8")

    def of(path: Path) -> dict[str, str]:
        return folders(tiny.changed(source=Files(text=(path,)), tasks={}))

    assert of(here) == of(there)
    there.write_text("Another sentence .\n", encoding="utf-8")
    assert of(here)["languages"] != of(there)["languages"]


def test_a_study_and_its_steps_travel_to_other_processes(tiny: Study) -> None:
    steps = tiny.steps(ROOT)
    study, there = pickle.loads(pickle.dumps((tiny, steps)))
    assert study == tiny
    assert [step.folder for step in there] == [step.folder for step in steps]


def test_without_the_switch_all_seeds_have_the_same_data(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1"])
    derived = {step.folder for step in made.steps(ROOT) if step.stage == "derive"}
    done = Done(ROOT, made)
    assert derived == {done.data, *(step.folder for step in done.examples.values())}
    assert {model.run.redrawn for model in done.models()} == {()}


def test_with_it_each_seed_has_its_own_and_the_first_those_of_before(tiny: Study) -> None:
    plain, drawn = (override(tiny, ["seeds=0,1,2", f"redraw={switch}"]) for switch in ("false", "true"))
    before, after = ({step.folder for step in study.steps(ROOT)} for study in (plain, drawn))
    of_first = {step.folder for step in override(tiny, ["seeds=0"]).steps(ROOT)}
    assert before & after == of_first
    derived = [step.title for step in drawn.steps(ROOT) if step.stage == "derive"]
    assert derived == ["languages"] * 3 + ["examples of pos"] * 3
    assert len({step.folder for step in drawn.steps(ROOT) if step.stage == "derive"}) == 6
    run = drawn.models(ROOT)[-1].run
    assert run.redrawn == ("the lexicon", "the text", "the task items", "the dictionary")
    assert {part["seed"] for part in run.languages[1].parts} == {2}


def test_a_seed_that_could_draw_nothing_but_the_model_is_refused(tiny: Study, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rains.\n")
    files = tiny.changed(source=Files(text=(tmp_path / "a.txt",)), tasks={}, redraw=True)
    assert [mistake for mistake in study_mistakes(files) if "redraw" in mistake] == []
    told = "; ".join(study_mistakes(files.changed(dictionary=DictionaryConfig(by="frequency"))))
    assert "redraw: only the model is drawn at random here" in told


def test_objectives_take_as_many_steps_as_their_paces_say(tiny: Study) -> None:
    made = replace(tiny, objectives=(MLM(), AlignMLM(), After(AlignMLM(), MLM())), paces={"ALIGN-MLM": 0.5})
    assert scale(made) == f"{scale(tiny)}; numbers of steps differ between objectives"
    assert scale(replace(made, paces={"ALIGN-MLM": 1.0})) == scale(tiny)
    assert study_mistakes(made) == []
    steps = {model.training.objective.name: model.training.train.steps for model in made.models(ROOT)}
    whole = made.train.steps
    assert steps == {"MLM": whole, "ALIGN-MLM": round(whole / 2), "ALIGN-MLM-after-MLM": whole - round(whole / 2)}
    slower = Done(ROOT, replace(made, paces={"ALIGN-MLM-after-MLM": 2.0}))
    after = slower.model("ALIGN-MLM-after-MLM").training
    assert after.train.steps == after.steps_before == whole
    assert after.start == slower.model("MLM").weights and slower.starts() == []
    assert study_mistakes(replace(made, paces={"MLM": 0.0})) == ["paces.MLM is above 0, not 0"]
    assert study_mistakes(replace(made, paces={"XLM": 1.0})) == ["paces: there is no objective 'XLM' here"]


def test_the_paper_s_study_fine_tunes_as_table_11_says() -> None:
    tasks = align_mlm().tasks
    assert {name: task.finetune.epochs for name, task in tasks.items()} == {"pos": 10, "ner": 10, "nli": 5}
    settings = {(one.finetune.learning_rate, one.finetune.max_length, one.finetune.batch) for one in tasks.values()}
    assert settings == {(2e-5, 128, 32)}
