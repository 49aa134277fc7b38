"""A study's models, steps and folders: what changes the name of each, and what studies share."""

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from calque.derive.dictionary import DictionaryConfig
from calque.derive.sources.files import Files
from calque.experiments.measures import OrderDistance
from calque.experiments.names import study as named
from calque.experiments.override import override
from calque.experiments.step import with_needs
from calque.experiments.study import Study
from calque.experiments.study_mistakes import study_mistakes
from calque.experiments.sweep import Sweep
from calque.pretrain.objective import After
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from tests.experiments.conftest import Done

ROOT = Path("runs")
EXAMPLES = "examples of pos"
MEASURES = {"order", "labels", "links", "alignment", "sharing", "forms", "pos"}


def folders(study: Study) -> dict[str, str]:
    """The names of the folders of the first model's steps, by kind: its languages, its run and what was measured."""
    done = Done(ROOT, study)
    model, *_ = done.models()
    names = {"languages": done.data.name, "run": model.folder.name}
    names |= {f"examples of {task}": step.folder.name for task, step in done.examples.items()}
    return names | {name: step.fingerprint for name, step in done.measures(model).items()}


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        *((setting, {"languages", "run", *MEASURES}) for setting in ("source.language.seed=1", "vocabulary=601")),
        ("source.size=601", {"languages", "run", *MEASURES}),
        ("dictionary.fraction=0.5", {"languages", *MEASURES}),  # the first model is MLM's, which reads none
        ("dictionary.by=frequency", {"languages", *MEASURES}),
        ("transforms=trans.inv,trans", {"languages", EXAMPLES}),
        ("source.pos.train=41", {EXAMPLES, "pos"}),
        ("source.ner.train=41", set()),
        *((one, {"run", *MEASURES}) for one in ("model.layers=2", "model.dropout=0.3", "train.steps=13")),
        ("tasks.pos.finetune.epochs=2", {"pos"}),
        *((one, set()) for one in ("paper=xlm_align", "threads=2", "seeds=0,1", "objectives=MLM", "train.log_every=2")),
    ],
)
def test_a_value_changes_the_names_of_what_it_decides(tiny: Study, settings: str, changed: set[str]) -> None:
    before, after = folders(tiny), folders(override(tiny, [settings, "train.save_every=0"]))
    others = {kind for kind in before.keys() | after.keys() if before.get(kind) != after.get(kind)}
    assert others - {EXAMPLES} == changed - {EXAMPLES} and changed & {EXAMPLES} <= others


def trained(study: Study | Sweep) -> set[Path]:
    return {step.folder for step in study.trained(ROOT)}


@pytest.mark.parametrize(
    ("objective", "models"),
    [("MLM", 1), ("XLM", 1), ("WEAM-after-MLM", 2), ("DICT-MLM", 3), ("ALIGN-MLM", 3), ("MLM-after-ALIGN-MLM", 6)],
)
def test_a_sweep_over_dictionaries_trains_once_what_reads_none(tiny: Study, objective: str, models: int) -> None:
    changed = override(tiny, [f"objectives={objective}"])
    sweep = Sweep.read(changed, ["dictionary.fraction=0.1,0.2,0.3"])
    assert len(trained(sweep)) == len(sweep.trained(ROOT)) == models


@dataclass(frozen=True)
class Own(MLM):
    short_name = "OWN"
    summary = "OWN is MLM."


def test_an_objective_from_outside_may_read_the_dictionary(tiny: Study) -> None:
    study = replace(tiny, objectives=(Own(),))
    assert len(trained(Sweep.read(study, ["dictionary.fraction=0.1,0.2"]))) == 2


def test_studies_with_the_same_model_share_it() -> None:
    control, whole = named("control"), named("align_mlm_pocket")
    assert len(trained(control)) == 5 and trained(control) < trained(whole)
    shorter = override(named("pocket"), ["train.steps=5000", "objectives=MLM,ALIGN-MLM"])
    assert trained(shorter) < trained(whole)


def test_the_tree(tiny: Study) -> None:
    done, home = Done(ROOT, tiny), ROOT / "shared"
    model = done.model("ALIGN-MLM")
    assert (done.home, done.report) == (home, ROOT / "pocket" / "report")
    assert done.data == home / f"languages-{done.languages.fingerprint}"
    assert done.examples["pos"].folder == home / "tasks" / f"pos-{done.examples['pos'].fingerprint}"
    assert model.folder == home / "trans.inv" / "ALIGN-MLM" / f"seed-0-{model.weights.fingerprint}"
    assert model.run.id == f"trans.inv/ALIGN-MLM/{model.folder.name}"
    reports = {study.report(ROOT, changed=True) for study in (tiny, override(tiny, ["tasks.pos.finetune.epochs=2"]))}
    assert len(reports | {done.report}) == 3


def test_models_are_all_combinations_with_whole_seeds_first(tiny: Study) -> None:
    study = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv"])
    names = [model.name for model in study.models(ROOT)]
    assert (names[0], names[1], names[4]) == ("trans/MLM/seed-0", "trans/ALIGN-MLM/seed-0", "trans/MLM/seed-1")
    assert len(set(names)) == len(names) == 8


def test_a_new_format_changes_the_name_of_what_it_makes(tiny: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    before = folders(tiny)
    monkeypatch.setattr(OrderDistance, "format", 99)
    after = folders(tiny)
    assert {kind for kind in before if before[kind] != after[kind]} == {"order"}


@pytest.mark.parametrize(
    ("setting", "other"),
    [("train.steps=13", False), ("seeds=0,1", False), ("source.pos.train=41", True), ("vocabulary=601", True)],
)
def test_floors_depend_on_languages_and_examples_alone(tiny: Study, setting: str, other: bool) -> None:
    studies = tiny, override(tiny, [setting, "train.save_every=0"])
    before, after = ([step.folder for step in study.baselines(ROOT)] for study in studies)
    assert (before != after) == other


def test_no_two_steps_share_a_folder(tiny: Study) -> None:
    study = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv", "objectives=MLM,MLM-after-ALIGN-MLM"])
    steps = study.steps(ROOT)
    assert len({step.folder for step in steps}) == len(steps) == len(with_needs(steps))
    assert trained(replace(study, objectives=(MLM(0.2),))).isdisjoint(trained(replace(study, objectives=(MLM(),))))


def test_files_count_by_their_contents(tiny: Study, tmp_path: Path) -> None:
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
    assert study == tiny and [step.folder for step in there] == [step.folder for step in steps]


def test_with_redraw_each_seed_has_data_of_its_own_and_the_first_keeps_its(tiny: Study) -> None:
    plain, drawn = (override(tiny, ["seeds=0,1,2", f"redraw={switch}"]) for switch in ("false", "true"))
    before, after = ({step.folder for step in study.steps(ROOT)} for study in (plain, drawn))
    assert before & after == {step.folder for step in override(tiny, ["seeds=0"]).steps(ROOT)}
    for study, number in ((plain, 2), (drawn, 6)):
        assert len({step.folder for step in study.steps(ROOT) if step.stage == "derive"}) == number
    run = drawn.models(ROOT)[-1].run
    assert run.redrawn == ("the lexicon", "the text", "the task items", "the dictionary")
    assert {part["seed"] for part in run.languages[1].parts} == {2}


def test_a_seed_that_could_draw_nothing_but_the_model_is_refused(tiny: Study, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rains.\n")
    files = tiny.changed(source=Files(text=(tmp_path / "a.txt",)), tasks={}, redraw=True)
    assert not any("redraw" in mistake for mistake in study_mistakes(files))
    assert "redraw" in "; ".join(study_mistakes(files.changed(dictionary=DictionaryConfig(by="frequency"))))


def test_objectives_take_as_many_steps_as_their_paces_say(tiny: Study) -> None:
    study = replace(tiny, objectives=(MLM(), AlignMLM(), After(AlignMLM(), MLM())), paces={"ALIGN-MLM": 0.5})
    steps = {model.training.objective.name: model.training.train.steps for model in study.models(ROOT)}
    whole = study.train.steps
    assert steps == {"MLM": whole, "ALIGN-MLM": round(whole / 2), "ALIGN-MLM-after-MLM": whole - round(whole / 2)}
    slower = Done(ROOT, replace(study, paces={"ALIGN-MLM-after-MLM": 2.0}))
    after = slower.model("ALIGN-MLM-after-MLM").training
    assert after.train.steps == after.steps_before == whole
    assert after.start == slower.model("MLM").weights and slower.starts() == []
    assert study_mistakes(study) == []
    assert all(study_mistakes(replace(study, paces=paces)) for paces in ({"MLM": 0.0}, {"XLM": 1.0}))
