import json
from dataclasses import dataclass

import pytest
import torch
from safetensors.torch import load_file

from calque.analysis.aligners import BY_NAME, Method
from calque.analysis.measures.alignment import Types
from calque.analysis.papers import texts
from calque.analysis.records.record import Measurement
from calque.experiments.study.measures import MEASURES, Measure
from calque.pretrain.transport import argmax
from tests.experiments.conftest import TINY, calque, sets


@dataclass(frozen=True)
class LongerRows(Measure):
    name = "longer-rows"
    only_pairs = True

    def __call__(self, model, machine):
        types = Types.open(model.data, *model.training.languages)
        table = load_file(model.checkpoint / "model.safetensors")["roberta.embeddings.word_embeddings.weight"]
        source, derived = types.rows_of(table)
        longer = source.norm(dim=1) > derived.norm(dim=1)
        value = longer.double().mean().item()
        return Measurement((model.measured(machine).record("longer rows", "all", value, len(longer)),))


def distances(source, target, row_mask, col_mask):
    return 1 / (1 + torch.cdist(source, target))


NEAREST = Method("nearest", distances, argmax)

FIGURE = {
    "papers": ["align_mlm"],
    "title": "Longer rows by language",
    "caption": "{bars}",
    "columns": [["longer rows", "longer rows", "all"]],
}


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    monkeypatch.setitem(MEASURES, "longer-rows", LongerRows())
    monkeypatch.setitem(BY_NAME, NEAREST.name, NEAREST)
    monkeypatch.setitem(texts.TEXTS["figures"], "figure-longer", FIGURE)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_toys_run_from_command_line_to_report(tmp_path):
    own = "train.steps=4 train.probe_every=0 objectives=MLM transforms=trans measures=alignment,longer-rows"
    words = sets(*TINY, *own.split())
    code, _, err = calque("run", "pocket", "--runs", tmp_path, "--jobs", "1", *words)
    assert code == 0, err
    (report,) = (tmp_path / "pocket").glob("report-*")
    records = rows_of(report / "records.jsonl")
    own = (report / "own-measures.md").read_text()
    numbers = {f"{100 * r['value']:.1f}" for r in records if r["measure"] == "longer rows"}
    assert numbers and all(number in own for number in numbers)
    drawn = rows_of(report / "figures" / "figure-longer.jsonl")
    assert {r["measure"] for r in drawn} == {"longer rows"} and len(drawn) == 1


def test_aligner_is_found_by_name(done, tmp_path):
    text = tmp_path / "text"
    text.write_text("Sara ate two apples .\n" * 3)
    model = done.model("MLM").checkpoint
    code, out, err = calque("align", text, text, "--method", "nearest", "--model", model)
    assert (code, out) == (0, "0-0 1-1 2-2 3-3 4-4\n" * 3), err
