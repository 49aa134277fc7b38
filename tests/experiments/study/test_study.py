from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.sources.files import Files, TaskFiles
from calque.experiments.run.step import with_needs
from calque.experiments.session import StudySession
from calque.experiments.settings.override import override
from calque.experiments.study.measures import OrderDistance
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.objectives.mlm import MLM
from tests.experiments.conftest import Done

ROOT = Path("runs")
EXAMPLES = "examples of pos"
MEASURES = {"order", "labels", "links", "alignment", "sharing", "pos"}
NEUTRAL = ("paper=xlm_align", "threads=2", "seeds=0,1", "objectives=MLM", "train.log_every=2")


def folders(study):
    done = Done(ROOT, study)
    model, *_ = done.models()
    names = {"languages": done.data.name, "run": model.folder.name}
    names |= {f"examples of {task}": step.folder.name for task, step in done.examples.items()}
    return names | {name: step.fingerprint for name, step in done.measures(model).items()}


@pytest.fixture(scope="module")
def before(tiny):
    return folders(tiny)


@pytest.mark.parametrize(
    ("settings", "changed"),
    [
        ("source.language.seed=1", {"languages", "run", *MEASURES}),
        ("vocabulary=601", {"languages", "run", *MEASURES}),
        ("source.size=601", {"languages", "run", *MEASURES}),
        ("dictionary.fraction=0.5", {"languages", *MEASURES}),  # the first model, MLM, reads no dictionary
        ("dictionary.by=frequency", {"languages", *MEASURES}),
        ("transforms=trans.inv,trans", {"languages", EXAMPLES}),
        ("source.pos.train=41", {EXAMPLES, "pos"}),
        ("source.ner.train=41", set()),
        *((one, {"run", *MEASURES}) for one in ("model.layers=2", "model.dropout=0.3", "train.steps=13")),
        ("tasks.pos.finetune.epochs=2", {"pos"}),
        *((setting, set()) for setting in NEUTRAL),
    ],
)
def test_settings_change_names_of_dependent_folders(tiny, before, settings, changed):
    after = folders(override(tiny, [settings, "train.save_every=0"]))
    others = {kind for kind in before.keys() | after.keys() if before.get(kind) != after.get(kind)}
    assert others - {EXAMPLES} == changed - {EXAMPLES} and changed & {EXAMPLES} <= others


def trained(study):
    return {step.folder for step in study.trained(ROOT)}


SHARED = {"MLM": 1, "XLM": 1, "WEAM-after-MLM": 2}
READ_DICTIONARY = {"DICT-MLM": 3, "ALIGN-MLM": 3, "LINK": 3, "MLM-after-ALIGN-MLM": 6}


@pytest.mark.parametrize(("objective", "models"), (SHARED | READ_DICTIONARY).items())
def test_dictionary_sweep_trains_other_models_once(tiny, objective, models):
    changed = override(tiny, [f"objectives={objective}"])
    sweep = StudySession(changed, ROOT, sweep=("dictionary.fraction=0.1,0.2,0.3",))
    assert len({step.folder for step in sweep.trained}) == len(sweep.trained) == models


def test_new_format_changes_fingerprints(tiny, before, monkeypatch):
    monkeypatch.setattr(OrderDistance, "format", 99)
    after = folders(tiny)
    assert {kind for kind in before if before[kind] != after[kind]} == {"order"}


def test_no_two_steps_share_a_folder(tiny):
    study = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv", "objectives=MLM,MLM-after-ALIGN-MLM"])
    steps = study.steps(ROOT)
    assert len({step.folder for step in steps}) == len(steps) == len(with_needs(steps))
    usual, often = (trained(replace(study, objectives=(MLM(rate),))) for rate in (0.15, 0.2))
    assert usual.isdisjoint(often)


def test_files_count_by_contents(tiny, tmp_path):
    here, there = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (here, there):
        path.write_text("One sentence .\n")

    def of(path):
        return folders(tiny.changed(source=Files(text=(path,)), tasks={}))

    assert of(here) == of(there)
    there.write_text("Another sentence .\n")
    assert of(here)["languages"] != of(there)["languages"]


def test_redraw_gives_each_seed_its_own_data(tiny):
    plain, drawn = (override(tiny, ["seeds=0,1,2", f"redraw={switch}"]) for switch in ("false", "true"))
    before, after = ({step.folder for step in study.steps(ROOT)} for study in (plain, drawn))
    assert before & after == {step.folder for step in override(tiny, ["seeds=0"]).steps(ROOT)}
    for study, number in ((plain, 2), (drawn, 6)):
        assert len({step.folder for step in study.steps(ROOT) if step.stage == "derive"}) == number
    run = drawn.models(ROOT)[-1].run
    assert run.redrawn == ("the lexicon", "the text", "the task items", "the dictionary")
    assert {part["seed"] for part in run.languages[1].parts} == {2}


FILE = (Path("a"),)
FILES = TaskFiles(train=FILE, dev=FILE, test=FILE)
TASK = CrossLingualTask(FinetuneConfig(), files=FILES, tests={"fr": FILE})


def test_natural_tasks_need_files_and_other_languages():
    assert list(TASK.natural_mistakes("pos", "en")) == []
    (said,) = CrossLingualTask(FinetuneConfig()).natural_mistakes("pos", "en")
    assert "tasks.pos.files" in said
    (said,) = replace(TASK, tests={"en": FILE}).natural_mistakes("pos", "en")
    assert said.startswith("tasks.pos.tests: ") and " en" in said
