"""`--sweep`: one study with several values of a setting, whose steps are shared where the values do not matter."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Run
from calque.derive.errors import BadInput
from calque.experiments.commands.study import null
from calque.experiments.override import override
from calque.experiments.plan import describe, plan
from calque.experiments.report import summarise_sweep
from calque.experiments.report_data import example_of
from calque.experiments.schedule import compute
from calque.experiments.study import Study
from calque.experiments.sweep import Sweep
from tests.experiments.test_cli import SETTINGS, calque

ROOT = Path("runs")
SMALL = [*SETTINGS, *("--set", "measures=alignment", "--set", "seeds=0,1", "--jobs", "1")]


def folders(sweep: Sweep | Study, prefix: str) -> set[Path]:
    """The folders of its steps whose titles begin so."""
    return {step.folder for step in sweep.steps(ROOT) if step.title.startswith(prefix)}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over three numbers of steps, from the command line to its report."""
    folder = tmp_path_factory.mktemp("sweep")
    words = ["run", "pocket", "--runs", str(folder), *SMALL, "--sweep", "train.steps=4,8,12"]
    code, out, err = calque(*words)
    assert (code, err) == (0, "") and out.rstrip().endswith("report.html")
    assert "two cores" not in out, "the time of a study is that of its own values"
    assert all(word in out for word in ("Trans + Inv", "MLM", "training steps"))
    return folder


def test_steps_that_values_share_are_computed_once(root: Path) -> None:
    names = [path.name.partition("-")[0] for path in (root / "shared").iterdir()]
    assert sorted(names) == ["floors", "languages", "tasks", "trans.inv"]
    for objective in ("MLM", "ALIGN-MLM"):
        runs = (path.name for path in (root / "shared" / "trans.inv" / objective).iterdir())
        assert sorted(name.rpartition("-")[0] for name in runs) == ["seed-0"] * 3 + ["seed-1"] * 3


def test_the_table_has_a_row_for_each_value_and_the_figure_every_number(root: Path) -> None:
    (report,) = (root / "pocket").glob("report-*")
    with (report / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["objective"], row["training steps"]) for row in rows] == [
        (name, steps) for name in ("MLM", "ALIGN-MLM") for steps in ("4", "8", "12")
    ]
    runs = {run.id: run for run in read(report / "runs.jsonl", Run)}
    assert {run.settings["train.steps"] for run in runs.values()} == {"4", "8", "12"} and len(runs) == 3 * 2 * 2
    records = read(report / "records.jsonl", Record)
    for row in rows:
        found = [
            record.value
            for record in records
            if (record.measure, record.metric) == ("ZS", "accuracy")
            and runs[record.run].settings == {"train.steps": row["training steps"]}
            and runs[record.run].objective.name == row["objective"]
        ]
        assert len(found) == 2 and row["POS accuracy, ZS"].split()[0] == f"{50 * sum(found):.1f}"
    shown = read(report / "figures" / "figure-sweep.jsonl", Record)
    assert {record.run for record in shown} == set(runs)
    page = (report / "report.html").read_text(encoding="utf-8")
    for said in ("pocket by training steps", "What changes with the training steps?", "2 seeds", "Differences by"):
        assert said in page, said


def test_the_null_of_a_sweep_counts_all_values(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (report,) = (root / "pocket").glob("report-*")
    null(str(report))
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("| ZS, POS (accuracy)"))
    comparisons, cells = (row.split("|")[place].split()[-1] for place in (4, 5))
    assert (comparisons, cells) == ("6", "2"), "three values of two objectives"


def test_a_sweep_of_seeds_states_those_of_each_value_and_is_read_again(root: Path, tmp_path: Path) -> None:
    """Its models were computed by the other sweep."""
    runs = tmp_path / "runs"
    shutil.copytree(root, runs)
    words = ["pocket", "--runs", str(runs), *SMALL[:-2], "--set", "train.steps=4", "--sweep", "seeds=0;0,1"]
    code, report, _ = calque("report", *words, "--quiet")
    folder = Path(report.strip()).parent
    assert code == 0
    note = (folder / "sweep.md").read_text(encoding="utf-8").splitlines()[-1]
    assert "0: one seed (0), no interval" in note and "0,1: 2 seeds (0, 1)" in note
    assert json.loads((folder / "about.json").read_text(encoding="utf-8"))["seeds"] == [0, 1]
    again = calque("report", str(folder), "--out", str(tmp_path / "again"), "--quiet")
    assert again[0] == 0 and (tmp_path / "again" / "sweep.md").read_bytes() == (folder / "sweep.md").read_bytes()


@pytest.mark.parametrize(
    ("setting", "shared", "several"),
    [
        ("train.steps=4,8", ["languages", "examples", "floors"], ["pretrain", "pos ", "alignment"]),
        ("tasks.pos.finetune.epochs=1,2", ["languages", "examples", "floors", "pretrain", "alignment"], ["pos "]),
        (
            "dictionary.fraction=0.1,0.5",
            ["examples", "pretrain trans.inv/MLM"],
            ["languages", "pretrain trans.inv/ALIGN", "pos ", "alignment"],
        ),
    ],
)
def test_only_what_a_value_decides_is_there_several_times(
    tiny: Study, setting: str, shared: list[str], several: list[str]
) -> None:
    sweep = Sweep.read(tiny, [setting])
    for title in (*shared, *several):
        times = 2 if title in several else 1
        assert len(folders(sweep, title)) == times * len(folders(tiny, title)) > 0, title


def test_the_example_is_in_languages_that_the_sweep_has(tiny: Study, tmp_path: Path) -> None:
    """Also where neither the study's own vocabulary nor its own transforms are among the values."""
    shared = override(tiny, ["transforms=trans-25-most", "objectives=MLM", "measures=alignment"])
    sweep = Sweep.read(shared, ["vocabulary=400,500"])
    compute(sweep.steps(tmp_path), sweep.home(tmp_path), 1)
    summarise_sweep(sweep, tmp_path, sweep.report(tmp_path))
    assert "in Trans 25 % shared" in (sweep.report(tmp_path) / "report.html").read_text(encoding="utf-8")
    floors = read(sweep.report(tmp_path) / "floors.jsonl", Floor)
    unigram = [floor for floor in floors if (floor.baseline, floor.learnt) == ("unigram", "source")]
    own = {(floor.settings["vocabulary"], floor.metric) for floor in unigram if floor.settings}
    assert own and own <= {(size, metric) for size in ("400", "500") for metric in ("accuracy", "f1_bare_tags")}
    assert any(not floor.settings for floor in unigram), "a floor of the source is the same for both"
    several = Sweep.read(override(tiny, ["objectives=MLM"]), ["transforms=trans,inv,trans.inv", "seeds=0;0,1"])
    found = example_of(several.variants.values(), tmp_path)
    assert found and {image.language for image in found.images} == {"Trans", "Inv", "Trans + Inv"}


@pytest.mark.parametrize("options", [["threads=1,2"], ["dictionary.fraction=0.5,0.50", "train.steps=4,8"]])
def test_values_with_the_same_results_are_refused(options: list[str], tmp_path: Path) -> None:
    sweeps = [word for option in options for word in ("--sweep", option)]
    code, _, err = calque("run", "pocket", "--runs", str(tmp_path), *SETTINGS, *sweeps)
    assert (code, err.count("\n")) == (2, 1) and options[0] in err
    assert list(tmp_path.iterdir()) == []


def test_a_plan_has_every_run_once_and_says_which_values_it_is_for(tiny: Study) -> None:
    epochs = plan(Sweep.read(tiny, ["tasks.pos.finetune.epochs=1,2"]), 1)
    assert epochs == replace(plan(tiny, 1), peak=epochs.peak)
    steps, alone = Sweep.read(tiny, ["train.steps=4,8"]), plan(tiny, 1)
    both = plan(steps, 1)
    assert [title for title, _ in both.runs] == [f"{title} [{n}]" for n in (4, 8) for title, _ in alone.runs]
    assert [cost.steps for _, cost in both.runs] == [n for n in (4, 8) for _ in alone.runs]
    said = describe(steps, 1)
    assert f"{len(both.runs)} runs for train.steps=4,8" in said
    titles = [step.title for step in steps.steps(ROOT)]
    assert "languages" in titles and {f"pretrain {title}" for title, _ in both.runs} <= set(titles)


def test_a_title_names_only_the_settings_that_decide_its_step(tiny: Study) -> None:
    options = ["seeds=0;0,1", "train.steps=4,8,12", "tasks.pos.finetune.epochs=1,2"]
    sweep = Sweep.read(tiny, options)
    assert sweep.options == options
    titles = {step.title.partition(" [")[::2] for step in sweep.steps(ROOT) if "MLM/" in step.title}
    pretrained = {(title, told) for title, told in titles if title.startswith("pretrain trans.inv/MLM")}
    assert pretrained == {
        (f"pretrain trans.inv/MLM/seed-{seed}", f"{told}steps={steps}]")
        for seed, told in ((0, ""), (1, "seeds=0,1, "))
        for steps in (4, 8, 12)
    }
    assert any(told == "steps=4, epochs=2]" for title, told in titles if title.startswith("pos"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["train.steps=4"], "--sweep train.steps=4: expected key=value,value with two or more different values"),
        (["train.steps=4,4"], "two or more different values"),
        (["train.steps=4, 4"], "two or more different values"),
        (["train.steps="], "two or more different values"),
        (["transforms=trans,nope"], "--sweep transforms=nope: no transform is called 'nope'"),
        (["train.steps"], "two or more different values"),
        (["train.steps=4,8", "train.steps=2,3"], "names a setting twice"),
        (["train.stesp=4,8"], "did you mean steps?"),
        (["train.steps=4,many"], "expected int, not 'many'"),
        (["train.steps=4,0"], "train.steps is at least 1"),
        (["dictionary.fraction=0.5,2"], "between 0 and 1, not 2"),
        (["paper=align_mlm,nature"], "expected one of align_mlm"),
        (["train.steps=" + ",".join(map(str, range(12, 23))), "vocabulary=" + ",".join(map(str, range(600, 610)))],
         "makes 110 variants of the study, which train up to 220 models for 2,640 steps in all"),
    ],
)  # fmt: skip
def test_what_cannot_be_swept_is_refused(tiny: Study, options: list[str], said: str) -> None:
    with pytest.raises(BadInput) as told:
        Sweep.read(tiny, options)
    assert said in str(told.value) and "\n" not in str(told.value)
