"""A study that pretrains nothing: an encoder, fine-tuned with several seeds on tasks tested across languages."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import Record
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.errors import BadInput
from calque.derive.sources.files import TaskFiles
from calque.experiments.data.recipe import recipes_of
from calque.experiments.finetuning import ZeroShot
from calque.experiments.languages import NaturalLanguages
from calque.experiments.names import study as named
from calque.experiments.override import override
from calque.experiments.plan import describe
from calque.experiments.studies.xtreme import xtreme
from calque.experiments.studies.xtreme_small import xtreme_small
from calque.experiments.study import Study
from calque.experiments.study_mistakes import study_mistakes
from calque.experiments.summary import scale
from calque.experiments.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig
from tests.derive.test_task_data import treebank
from tests.experiments.conftest import Done, finished
from tests.experiments.test_natural import encoder

QUICK = FinetuneConfig(learning_rate=1e-3, epochs=1, batch=8)
LABELS = ("entailment", "neutral", "contradiction")


def pairs(path: Path, count: int, said: str = "It rains in") -> Path:
    """Premise, hypothesis and label, a line each."""
    rows = (f"{said} {place}.\tIt rains.\t{LABELS[place % 3]}\n" for place in range(count))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def questions(path: Path, count: int) -> Path:
    """As SQuAD has them, each with a context of its own."""
    context = "Sara ate two apples in Paris."
    asked = [
        {
            "context": context,
            "qas": [
                {"id": str(number), "question": "Where?", "answers": [{"text": "Paris", "answer_start": 23}]},
            ],
        }
        for number in range(count)
    ]
    path.write_text(json.dumps({"data": [{"paragraphs": asked}]}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("data")
    train, test = treebank(folder / "train.conllu", 24, 8), treebank(folder / "test.conllu", 10, 9)
    nli, qa = pairs(folder / "nli.tsv", 30), questions(folder / "qa.json", 24)
    answers = TaskFiles((qa,), held_out=4)
    return Study(
        name="alone",
        paper="xtreme",
        start=encoder(folder / "encoder"),
        languages=NaturalLanguages("en"),
        tasks={
            "pos": CrossLingualTask(
                QUICK,
                files=TaskFiles((train,), (test,), (test,)),
                tests={"fr": (test,)},
                learning_rates=(1e-3, 1e-6),
            ),
            "nli": CrossLingualTask(
                QUICK,
                files=TaskFiles((nli,), held_out=6, tested=5),
                tests={"fr": (nli,), "de": (nli,)},
                translations={"fr": (nli,), "xx": (pairs(folder / "xx.tsv", 30, "Pluit in"),)},
                ways=("ZS", "TT", "TT-CS"),
            ),
            "xquad": CrossLingualTask(QUICK, files=answers, tests={"de": (qa,)}, sizes=(4, 9)),
            "mlqa": CrossLingualTask(QUICK, files=answers, tests={"es": (qa,)}, sizes=(4, 9)),
        },
        seeds=(0, 1),
        measures=(),
        model=ModelConfig(layers=3, heads=2, hidden=16, ffn=32, length=100),
    )


@pytest.fixture(scope="module")
def report(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert study_mistakes(study) == []
    done = finished(tmp_path_factory.mktemp("runs"), study)
    measures = [(step, step.config.measure) for step in study.steps(done.root) if hasattr(step.config, "measure")]
    tuned = [(step.open().facts, measure) for step, measure in measures if isinstance(measure, ZeroShot)]
    chosen = [facts for facts, measure in tuned if measure.name == "pos"]
    assert [len(facts["dev"]) for facts in chosen] == [2, 2]
    assert all(facts["chosen"] == facts["dev"].index(max(facts["dev"])) for facts in chosen)
    return done.report


def test_every_task_is_scored_in_every_language_with_every_seed(report: Path) -> None:
    records = json_rows.read(report / "records.jsonl", Record)
    tested = {"pos": ["en", "fr"], "nli": ["en", "fr", "de"], "xquad": ["en", "de"], "mlqa": ["en", "es"]}
    ways = {"pos": ["ZS"], "nli": ["ZS", "TT", "TT-CS"], "xquad": ["ZS"], "mlqa": ["ZS"]}
    assert {(r.run, r.task, r.language, r.measure) for r in records} == {
        (f"start/seed-{seed}", task, name, way if name != "en" else "SRC" if way == "ZS" else f"{way}-SRC")
        for seed in (0, 1)
        for task, languages in tested.items()
        for name in languages
        for way in ways[task]
    }
    counts = {(r.task, r.language): r.count for r in records if r.metric in ("accuracy", "f1") and r.task != "pos"}
    assert counts == {
        **{("nli", name): 5 for name in ("fr", "de")},
        ("nli", "en"): 6,
        ("xquad", "en"): 4,
        ("xquad", "de"): 24,
        ("mlqa", "en"): 4,
        ("mlqa", "es"): 24,
    }


def test_a_learning_curve_has_every_amount_of_examples(report: Path) -> None:
    records = json_rows.read(report / "records.jsonl", Record)
    amounts = {(r.task, r.examples) for r in records}
    curve = {(task, amount) for task in ("xquad", "mlqa") for amount in (4, 9, 16)}
    assert amounts == curve | {("pos", 0), ("nli", 0)}
    assert len([r for r in records if r.task == "xquad" and r.examples == 9]) == 2 * 2 * 2  # languages, metrics, seeds
    names = {path.name for path in report.rglob("*")}
    assert {"curve-xquad.md", "curve-mlqa.md", "figure-examples.png"} <= names


def test_the_report_has_tables_of_tasks_and_none_of_what_was_not_measured(report: Path) -> None:
    names = {path.name for path in report.rglob("*")}
    assert {"xtreme.md", "task-pos.md", "task-nli.md", "task-xquad.md", "figure-tasks.png", "null.md"} <= names
    assert not {"aer.md", "retrieval.md"} & names
    assert "code-switched pairs add to translate-train, NLI" in (report / "claims.md").read_text(encoding="utf-8")
    translated = (report / "ppa-nli.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.split("|")[1:5]] for row in translated.splitlines() if row.startswith("| ")]
    assert rows[1:4] == [["the start", way, "accuracy", "ours"] for way in ("ZS", "TT", "TT-CS")]
    assert ["PPA", "translate-train, 2M", "accuracy", "published"] in rows and [
        "mBERT",
        "zero-shot",
        "accuracy",
        "published",
    ] in rows
    assert "ppa-pos.md" not in names
    page = (report / "report.html").read_text(encoding="utf-8")
    for said in ("mean of 4 tasks", "over the limit", "learning rates tried: 0.001, 1e-06", "2 seeds (0, 1)"):
        assert said in page, said
    kept = r"<dt>Chosen, pos start/seed-(\d)</dt><dd>learning_rate (?:0\.001|1e-06); [^<]*percent: [\d.]+, [\d.]+</dd>"
    assert re.findall(kept, page) == ["0", "1"]
    assert "Training" not in page.split("Fine-tuning")[0].rsplit("<h2", 1)[-1]


@pytest.mark.parametrize("sizes", [(4, 16), (17,)])
def test_a_learning_curve_asks_for_fewer_examples_than_there_are(
    study: Study, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    """Told when examples are made, before anything is trained, and again when the command is repeated."""
    asked = replace(study, tasks={"xquad": replace(study.tasks["xquad"], sizes=sizes)}, seeds=(0,))
    for _ in range(2):
        with pytest.raises(BadInput, match=f"tasks.xquad.sizes: {sizes[-1]} of 16 training examples"):
            Done(tmp_path, asked).compute()
    assert not list(tmp_path.rglob("records.jsonl"))


def test_translations_of_other_questions_are_told_before_anything_is_trained(study: Study, tmp_path: Path) -> None:
    files = study.tasks["xquad"].files
    other = tmp_path / "other.json"
    other.write_text(files.train[0].read_text(encoding="utf-8").replace('"id": "3"', '"id": "x"'), encoding="utf-8")
    its = replace(study.tasks["xquad"], sizes=(), translations={"de": (other,)}, ways=("ZS", "TT"))
    asked = replace(study, tasks={"xquad": its}, seeds=(0,))
    with pytest.raises(BadInput, match="expected the translation of line"):
        Done(tmp_path / "runs", asked).compute()
    assert not list(tmp_path.rglob("records.jsonl"))


def test_titles_say_what_is_a_sample(study: Study) -> None:
    assert scale(study) == "3 layers of width 16, at most 5 test items of a language"
    limited = override(study, ["tasks.nli.files.limit=12", "tasks.nli.files.tested=0"])
    assert scale(limited) == "3 layers of width 16, at most 12 training examples"
    assert scale(override(limited, ["tasks.nli.files.limit=0"])) == "3 layers of width 16"
    with pytest.raises(BadInput, match=r"there is no 'xx'; it has none"):
        override(study, ["tasks.nli.devs=xx"])


def test_a_plan_says_that_nothing_is_pretrained(study: Study) -> None:
    told = describe(study, 1)
    assert "as it is; tasks: pos, nli, xquad, mlqa" in told
    assert "no model is pretrained" in told and "files: all" in told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["tasks="], "expected tasks, gold sets"),
        (["tasks.nli.files.held_out=0"], "at least one file of test data"),
        (["source=fr"], "tasks.pos: fr is the source, whose sets are in files"),
        (["tasks.pos.epochs=1,0"], "tasks.pos.the grid: epochs is at least 1, not 0"),
        (["source=../en"], "source: '../en' cannot name a language"),
        (["tasks.pos.files.dev=", "tasks.pos.files.held_out=0"], "chosen on a dev set"),
        (["tasks.nli.finetune.attention_dropout=1"], "attention_dropout is a fraction below 1, not 1"),
    ],
)
def test_impossible_values_are_told(study: Study, settings: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        override(study, settings)


def test_several_settings_need_a_dev_set_and_tasks_a_name(study: Study) -> None:
    pos = study.tasks["pos"]
    bare = replace(pos, files=replace(pos.files, dev=(), held_out=0))
    assert any("chosen on a dev set" in said for said in study_mistakes(replace(study, tasks={"pos": bare})))
    assert any("there is no 'posh'" in said for said in study_mistakes(replace(study, tasks={"posh": pos})))


def test_xtreme_small_names_files_that_are_there(calque_data: Path, calque_encoder: Path) -> None:
    study = xtreme_small()
    assert study_mistakes(study) == [] and study_mistakes(named("xtreme_curve")) == []
    for its in study.tasks.values():
        read = [
            *its.files.train,
            *its.files.dev,
            *its.files.test,
            *(path for paths in its.tests.values() for path in paths),
        ]
        assert not [path for path in read if not path.is_file()]


def test_every_file_of_xtreme_is_one_of_its_recipe_and_its_grid_is_table_12s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")
    monkeypatch.delenv("CALQUE_ENCODER", raising=False)
    study = xtreme()
    assert study_mistakes(study) == []
    tried = {name: len(its.configs) for name, its in study.tasks.items()}
    assert tried == {"pos": 9, "ner": 5, "xquad": 3, "mlqa": 9, "tydiqa": 8, "nli": 4, "paraphrase": 2}
    for its in study.tasks.values():
        others = [path for sets in (its.tests, its.devs) for paths in sets.values() for path in paths]
        for path in (*its.files.train, *its.files.dev, *its.files.test, *others):
            assert "xtreme" in recipes_of(path.relative_to("data")), path
