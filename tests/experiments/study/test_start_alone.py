import json

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import Record
from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.sources.files import TaskFiles
from calque.experiments.study import Study
from calque.experiments.study.natural import NaturalLanguages
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig
from tests.derive.test_task_data import treebank
from tests.experiments.conftest import finished
from tests.experiments.study.test_natural import encoder

QUICK = FinetuneConfig(learning_rate=1e-3, epochs=1, batch=8)
LABELS = ("entailment", "neutral", "contradiction")


def pairs(path, count, said="It rains in"):
    rows = (f"{said} {place}.\tIt rains.\t{LABELS[place % 3]}\n" for place in range(count))
    path.write_text("".join(rows))
    return path


def questions(path, count):
    context = "Sara ate two apples in Paris."
    asked = [
        {
            "context": context,
            "qas": [
                {"id": str(number), "question": "Where?", "answers": [{"text": "Paris", "answer_start": 23}]}
            ],
        }
        for number in range(count)
    ]
    path.write_text(json.dumps({"data": [{"paragraphs": asked}]}))
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    train, test = treebank(folder / "train.conllu", 24, 8), treebank(folder / "test.conllu", 10, 9)
    nli, qa = pairs(folder / "nli.tsv", 30), questions(folder / "qa.json", 24)
    answers = TaskFiles((qa,), held_out=4)
    return Study(
        name="alone",
        paper="xtreme",
        measure_start=True,
        start=encoder(folder / "encoder"),
        languages=NaturalLanguages("en"),
        tasks={
            "pos": CrossLingualTask(
                QUICK, files=TaskFiles((train,), (test,), (test,)), tests={"fr": (test,)}
            ),
            "nli": CrossLingualTask(
                QUICK, files=TaskFiles((nli,), held_out=6, tested=5), tests={"fr": (nli,), "de": (nli,)}
            ),
            "xquad": CrossLingualTask(QUICK, files=answers, tests={"de": (qa,)}),
            "mlqa": CrossLingualTask(QUICK, files=answers, tests={"es": (qa,)}),
        },
        seeds=(0, 1),
        measures=(),
        model=ModelConfig(layers=3, heads=2, hidden=16, ffn=32, length=100),
    )


def test_every_task_language_and_seed_is_scored(study, tmp_path):
    assert study.mistakes() == []
    records = json_rows.read(finished(tmp_path, study).report / "records.jsonl", Record)
    tested = {"pos": ["en", "fr"], "nli": ["en", "fr", "de"], "xquad": ["en", "de"], "mlqa": ["en", "es"]}
    assert {(r.run, r.task, r.language, r.measure) for r in records} == {
        (f"start/seed-{seed}", task, name, "SRC" if name == "en" else "ZS")
        for seed in (0, 1)
        for task, languages in tested.items()
        for name in languages
    }
    counts = {
        (r.task, r.language): r.count for r in records if r.metric in ("accuracy", "f1") and r.task != "pos"
    }
    held_out = {("nli", "en"): 6, ("xquad", "en"): 4, ("mlqa", "en"): 4}
    tests = {("nli", "fr"): 5, ("nli", "de"): 5, ("xquad", "de"): 24, ("mlqa", "es"): 24}
    assert counts == held_out | tests
