import json
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import calque.pretrain.objectives as objectives_module
from calque.analysis.aligners.methods import BY_NAME, Method
from calque.analysis.measures.alignment import Types
from calque.analysis.papers import texts
from calque.analysis.records.record import Measurement
from calque.analysis.tasks.catalog import PRIMARY, PRINTED, TASKS
from calque.analysis.tasks.score import ACCURACY, accuracy
from calque.analysis.tasks.tagging import Tagging
from calque.derive import transforms
from calque.derive.forms import percent
from calque.derive.transform import Transform
from calque.experiments.study.measures import MEASURES
from calque.experiments.study.measuring import Measure
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.objectives import parse
from calque.pretrain.objectives.mlm import Monolingual, TextObjective
from calque.pretrain.transport import argmax
from tests.experiments.conftest import TINY, calque, sets


class SomeBackwards(Monolingual):
    def __init__(self, languages, length, mask_rate, share):
        super().__init__(languages, length, mask_rate)
        self.share = share

    def read(self, instances):
        ids, languages = super().read(instances)
        turned = np.asarray(instances) % 100 < 100 * self.share
        ids[turned, 1:] = ids[turned, :0:-1]
        return ids, languages


@dataclass(frozen=True)
class Backwards(TextObjective):
    share: float = 0.5
    mask_rate: float = MASK_RATE

    short_name, full_name = "BACKWARDS", "Backwards"
    forms = (percent("share", "-", "{percent} % of the rows", "25"),)
    summary = "Backwards is MLM that reads some rows from the end."

    def streams(self, languages, length, seed):
        return [SomeBackwards(languages, length, self.mask_rate, self.share)]


@dataclass(frozen=True)
class Rotate(Transform):
    pattern = "rot"
    examples = (("rot", ""),)
    term = "Rot moves each sentence’s first word to its end."

    @property
    def name(self):
        return "rot"

    @property
    def title(self):
        return "Rot"

    def __call__(self, sentence, number=0):
        return sentence.reorder([*range(1, len(sentence)), *range(min(1, len(sentence)))])


@dataclass(frozen=True)
class Nouns(Tagging):
    name = "nouns"
    title = "Nouns"
    summary = "Nouns is tagging: whether each word is one."
    data = "pos"
    metrics = (ACCURACY,)
    printed = "accuracy"

    def tags(self, sentence):
        return tuple("noun" if tag in ("NOUN", "PROPN") else "other" for tag in sentence.tags)

    def scores(self, gold, predicted):
        return {"accuracy": accuracy(gold, predicted)}


@dataclass(frozen=True)
class LongerRows(Measure):
    name = "longer-rows"
    only_pairs = True
    terms = MappingProxyType({"Longer rows": "Rows whose image has a shorter one."})

    def __call__(self, model, machine):
        types = Types.open(model.data, *model.training.languages)
        table = load_file(model.checkpoint / "model.safetensors")["roberta.embeddings.word_embeddings.weight"]
        longer = table[types.own[types.types]].norm(dim=1) > table[types.image[types.types]].norm(dim=1)
        value = longer.double().mean().item()
        return Measurement((model.measured(machine).record("longer rows", "all", value, len(longer)),))


def distances(source, target, row_mask, col_mask):
    return 1 / (1 + torch.cdist(source, target))


NEAREST = Method("nearest", distances, argmax)

FIGURE = {
    "papers": ["align_mlm"],
    "heading": "Longer rows",
    "title": "Longer rows by language",
    "caption": "{bars}",
    "columns": [{"head": "longer rows", "measure": "longer rows", "metric": "all"}],
}


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    objectives = (*objectives_module.OBJECTIVES, Backwards)
    for module in (objectives_module, texts):
        monkeypatch.setattr(module, "OBJECTIVES", objectives)
    monkeypatch.setattr(transforms, "TRANSFORMS", (*transforms.TRANSFORMS, Rotate))
    monkeypatch.setitem(transforms.TERMS, "Rotate", Rotate.term)
    for names, value in ((TASKS, Nouns()), (PRIMARY, "accuracy"), (PRINTED, "accuracy")):
        monkeypatch.setitem(names, "nouns", value)
    monkeypatch.setitem(MEASURES, "longer-rows", LongerRows())
    monkeypatch.setitem(BY_NAME, NEAREST.name, NEAREST)
    monkeypatch.setitem(texts.TEXTS["figures"], "figure-longer", FIGURE)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_fields_define_name_title_and_parser():
    assert parse("BACKWARDS-25") == Backwards(0.25)
    assert (Backwards(0.25).name, Backwards(0.25).title) == ("BACKWARDS-25", "Backwards, 25 % of the rows")
    row = "| `BACKWARDS` | Backwards is MLM that reads some rows from the end. | `-25`: 25 % of the rows |"
    assert objectives_module.table()[-1] == row


def test_toys_run_from_command_line_to_report(tmp_path):
    own = """train.steps=4 train.warmup=1 train.probe_every=0 objectives=MLM,BACKWARDS-25-after-MLM
        transforms=trans.rot tasks=pos,nouns measures=alignment,longer-rows"""
    words = sets(*(setting for setting in TINY if "tasks" not in setting), *own.split())
    code, _, err = calque("run", "pocket", "--runs", tmp_path, "--jobs", "1", *words)
    assert code == 0, err
    (report,) = (tmp_path / "pocket").glob("report-*")
    runs, records = (rows_of(report / f"{name}.jsonl") for name in ("runs", "records"))
    parts = {run["objective"]["name"]: run["objective"]["parts"][0] for run in runs if run.get("objective")}
    assert parts.keys() == {"MLM", "BACKWARDS-25-after-MLM"}
    assert (parts["BACKWARDS-25-after-MLM"]["kind"], parts["BACKWARDS-25-after-MLM"]["share"]) == (
        "Backwards",
        0.25,
    )
    assert {r["language"] for r in records if r["measure"] == "ZS" and r["task"] == "nouns"} == {"trans.rot"}
    page = (report / "report.html").read_text()
    for text in (Backwards.summary, Rotate.term, "Nouns accuracy", Nouns.summary, *LongerRows.terms.values()):
        assert text in page, text
    own = (report / "own-measures.md").read_text()
    numbers = {f"{100 * r['value']:.1f}" for r in records if r["measure"] == "longer rows"}
    assert len(numbers) >= 1 and all(number in own for number in numbers)
    drawn = rows_of(report / "figures" / "figure-longer.jsonl")
    assert {r["measure"] for r in drawn} == {"longer rows"} and len(drawn) == 2


def test_aligner_is_found_by_name(done, tmp_path):
    text = tmp_path / "text"
    text.write_text("Sara ate two apples .\n" * 3)
    model = done.model("MLM").checkpoint
    code, out, err = calque("align", text, text, "--method", "nearest", "--model", model)
    assert (code, out) == (0, "0-0 1-1 2-2 3-3 4-4\n" * 3), err
