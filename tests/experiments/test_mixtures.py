"""A tiny study of mixtures of languages, from its languages to its report; its steps, settings and mistakes."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Run
from calque.derive.errors import BadInput
from calque.experiments.finetuning import transfers
from calque.experiments.measures import MEASURES
from calque.experiments.names import study
from calque.experiments.override import override
from calque.experiments.study import Study
from calque.pretrain.mixture import Mixture, Phase
from tests.experiments.conftest import Done, finished

TINY = [
    "source.size=600",
    *(f"source.pos.{split}=40" for split in ("train", "dev", "test")),
    "vocabulary=600",
    "mixtures=50-50,90-10,10-10-80-until-50-then-80-10-10",
    "budgets=0.5,1",
    "batches=2",
    "held_out=0.1",
    "seeds=0",
    "measures=reading,alignment,links",
    *(f"model.{name}" for name in ("layers=1", "heads=2", "hidden=16", "ffn=32", "length=32")),
    *(f"train.{name}" for name in ("steps=12", "batch=8", "learning_rate=4e-3", "warmup=4", "log_every=4")),
    "train.save_every=4",
    "tasks.pos.finetune.epochs=1",
]
ROOT = Path("runs")
NAMES = ("source", "trans", "trans2")


@pytest.fixture(scope="module")
def tiny() -> Study:
    return override(study("languages"), TINY)


@pytest.fixture(scope="module")
def made(tiny: Study, tmp_path_factory: pytest.TempPathFactory) -> Done:
    return finished(tmp_path_factory.mktemp("mixtures"), tiny)


def test_the_report_has_tables_figures_and_claims(made: Done) -> None:
    files = {path.name for path in made.report.iterdir()}
    tables = {f"{name}.{kind}" for name in ("claims", "token-efficiency", "transfer") for kind in ("csv", "md")}
    assert files == tables | {"records.jsonl", "floors.jsonl", "runs.jsonl", "figures", "report.html"}
    names = {path.name for path in (made.report / "figures").iterdir()}
    assert names == {f"figure-{name}.{kind}" for name in ("imbalance", "curve") for kind in ("png", "svg", "jsonl")}
    page = (made.report / "report.html").read_text(encoding="utf-8")
    for said in ("90/10", "token efficiency", "Schäfer", "The source alone", "trans2: "):
        assert said in page, said


def test_runs_say_what_each_model_read(made: Done) -> None:
    runs = read(made.report / "runs.jsonl", Run)
    mixed = [run.mixture.name for run in runs if run.mixture and len(run.languages) > 1]
    assert mixed == [mixture.name for mixture in made.study.mixtures for _ in made.study.objectives]
    alone = [run for run in runs if len(run.languages) == 1]
    assert [run.mixture.title if run.mixture else "" for run in alone] == ["", "", "alone, 2 rows a step"]
    last = runs[-1]
    assert [language.name for language in last.languages] == list(NAMES)
    assert last.mixture and last.mixture.parts[0]["phases"][1]["shares"] == [0.8, 0.1, 0.1]
    assert last.mixture.parts[0]["held_out"] == 0.1


def test_records_are_of_every_language_and_pair(made: Done) -> None:
    records = read(made.report / "records.jsonl", Record)
    runs = {run.id: run for run in read(made.report / "runs.jsonl", Run)}
    for run in runs.values():
        own = [record for record in records if record.run == run.id]
        names = [language.name for language in run.languages]
        read_ids = {record.language: record.value for record in own if record.metric == "ids"}
        assert list(read_ids) == names == [r.language for r in own if r.measure == "held-out loss"]
        of = {made.model("MLM-of-6", "alone").run.id: 6 * 8, made.model("MLM-by-2", "alone").run.id: 24}
        assert sum(read_ids.values()) == of.get(run.id, 12 * 8) * 31
        pairs = [("" if a == "source" else a, b) for a, b in permutations(names, 2)]
        for measure, metric in (("alignment", "held-out"), ("AER", "aer")):
            found = dict.fromkeys((r.first, r.language) for r in own if (r.measure, r.metric) == (measure, metric))
            assert list(found) == pairs, measure
        zero_shot = {(r.first, r.language) for r in own if r.measure == "ZS"}
        assert zero_shot == {pair for pair in pairs if "source" in pair or "" in pair}
        assert {r.language for r in own if r.measure == "SUP"} == (set(names) if len(names) > 1 else set())


def test_floors_are_of_what_models_are_transferred_between(made: Done) -> None:
    floors = read(made.report / "floors.jsonl", Floor)
    several = (model.training.languages for model in made.models() if model.training.languages)
    pairs = {pair for languages in several for pair in transfers(languages)}
    assert {(floor.learnt, floor.language) for floor in floors} >= pairs
    table = (made.report / "transfer.md").read_text(encoding="utf-8")
    assert "majority (floor)" in table and "unigram (floor)" in table


def test_shares_are_those_of_the_mixture(made: Done) -> None:
    scheduled = ("10-10-80-until-50-then-80-10-10", (0.45 * 96, 0.1 * 96, 0.45 * 96))
    for mixture, exact in (("90-10", (0.9 * 96, 0.1 * 96)), scheduled):
        shown = made.model("MLM", mixture).weights.open().facts["shown"]
        for name, rows in zip(NAMES, exact, strict=False):
            assert abs(shown[name]["rows"] - rows) < 1


def test_the_source_alone_learns_by_the_same_schedule_in_fewer_steps(tiny: Study) -> None:
    half, whole, thin = (Done(ROOT, tiny).model(f"MLM-{name}", "alone") for name in ("of-6", "of-12", "by-2"))
    assert (half.training.train.steps, half.training.train.warmup, half.training.languages) == (6, 2, ())
    assert half.training.rows == 600 and whole.training.train == tiny.train
    assert half.folder != whole.folder and half.name == "alone/MLM-of-6/seed-0"
    assert tiny.alone
    shorter = replace(tiny.alone, budgets=tuple(steps / 12 for steps in range(1, 13))).variants(tiny.train)
    assert [train.mistakes() for _, train in shorter] == [[]] * 13
    assert (thin.name, thin.training.train.batch, thin.training.train.warmup) == ("alone/MLM-by-2/seed-0", 2, 4)


def test_a_language_is_the_same_whatever_else_the_study_has(tiny: Study) -> None:
    ours = Done(ROOT, override(tiny, ["mixtures=50-50,90-10,40-30-30"]))
    theirs = ours.changed("transforms=trans,trans2", "mixtures=50-50")
    assert ours.model("MLM", "50-50").folder == theirs.model("MLM", "50-50").folder
    assert ours.model("MLM", "90-10").weights.fingerprint != ours.model("MLM", "50-50").weights.fingerprint
    assert ours.model("MLM", "40-30-30").training.rows == 3 * 600


def test_the_order_of_languages_is_part_of_a_model(tiny: Study) -> None:
    """A share is that of a place: with two languages exchanged another one is the small one."""
    ours = Done(ROOT, override(tiny, ["transforms=trans,trans2", "mixtures=70-20-10"]))
    theirs = ours.changed("transforms=trans2,trans").model("MLM").training
    training = ours.model("MLM").training
    assert training.languages == theirs.languages[::-1]
    assert training.identity()["order"] is None != theirs.identity()["order"]
    assert ours.model("MLM").folder != ours.changed("transforms=trans2,trans").model("MLM").folder


def test_models_of_mixtures_have_no_measure_from_a_source_to_one_language(tiny: Study) -> None:
    done = Done(ROOT, tiny)
    pair, several = (done.model("MLM", mixture.name) for mixture in (tiny.mixtures[0], tiny.mixtures[2]))
    for model, names in (
        (pair, ["links", "alignment", "reading"]),
        (several, ["links", "alignment", "reading"]),
        (done.model("MLM-of-6", "alone"), ["reading"]),
    ):
        assert [name for name, measure in MEASURES.items() if measure.applies(model)] == names


def test_settings(tiny: Study) -> None:
    changed = override(tiny, ["mixtures=90-10,sizes-0.7", "held_out=0.2"])
    assert changed.mixtures[0] is tiny.mixtures[1], "what a study has is kept"
    assert changed.mixtures[1] == Mixture(exponent=0.7)
    everything = changed.groups(ROOT, 0)[1].languages
    assert len(everything) == 4, "one that does not say how many has all languages"
    assert changed.groups(Path(), 0)[0].mixture == Mixture((Phase((0.9, 0.1)),), held_out=0.2)
    assert changed.alone and changed.alone.steps(changed.train) == [6, 12]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("mixtures=100-0", "a share of 0 throughout"),
        ("mixtures=50", "has one language"),
        ("mixtures=10-10-10-10-10-50", "has 6 languages, but there are 5"),
        ("mixtures=50-50,50-50", "names one twice"),
        ("mixtures=half", "no mixture is called 'half'"),
        ("mixtures=50-50-until-60-then-50-50-until-50-then-50-50", "ascending fractions"),
        ("budgets=0.5", "budgets are two or more"),
        ("budgets=0.5,0.4,1", "budgets are two or more"),
        ("budgets=0.5,0.9", "the last 1"),
        ("batches=8", "batches are ascending numbers of rows below train.batch"),
        ("batches=3,2", "batches are ascending"),
        ("held_out=0", "held_out is a fraction between 0 and 1"),
        ("exponent=0.5", "mixture.exponent: each of `mixtures` has its own"),
        ("mixture.pairs=0.5", "mixture.pairs: each of `mixtures` has its own"),
        ("mixture.text=1,0.5", "mixture.text: each of `mixtures`"),
        ("transforms=trans,trans", "names one twice"),
        ("objectives=XLM-ALIGN-label9", "needs layer 9"),
        ("objectives=MLM,XLM-ALIGN-after-MLM", "XLM-ALIGN-after-MLM starts from another model"),
        ("objectives=MLM,WORD-ALIGNED", "WORD-ALIGNED cannot start from random weights"),
        ("mixtures=100-0.0001", "a language with none of all .* rows; leave it out of the model"),
        ("train.steps=0", "train.steps is at least 1"),
        ("tasks.pos.finetune.epochs=0", "tasks.pos.finetune.epochs is at least 1"),
    ],
)
def test_mistakes_are_told(tiny: Study, setting: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        override(tiny, [setting])
