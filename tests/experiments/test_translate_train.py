"""A grid whose models are fine-tuned on both languages at once, too."""

from pathlib import Path

from calque.analysis.records import json_rows
from calque.analysis.records.record import Record
from calque.experiments.names import study as named
from calque.experiments.override import override
from tests.experiments.conftest import TINY, Done

BOTH = [
    *TINY[:-2],
    "objectives=MLM",
    "tasks=pos,nli",
    *(f"tasks.{task}.finetune.epochs=1" for task in ("pos", "nli")),
]
WAYS = ["tasks.pos.ways=ZS,TT", "tasks.nli.ways=ZS,TT,TT-CS"]


def test_each_way_has_records_and_a_table(tmp_path: Path) -> None:
    done = Done(tmp_path, override(named("align_mlm_pocket"), [*BOTH, *WAYS]))
    (model,) = done.models()
    assert list(done.measures(model))[-5:] == ["pos", "pos-tt", "nli", "nli-tt", "nli-tt-cs"]
    done.finish()
    records = json_rows.read(done.report / "records.jsonl", Record)
    measures = {(r.task, r.measure) for r in records if r.measure.startswith("TT")}
    assert measures == {
        *(("pos", f"TT{of}") for of in ("", "-SRC")),
        *(("nli", f"{way}{of}") for way in ("TT", "TT-CS") for of in ("", "-SRC")),
    }
    table = (done.report / "translate-train.md").read_text(encoding="utf-8")
    (pos,) = [row for row in table.splitlines() if "| POS accuracy" in row]
    assert pos.count("–") == 2  # one text: nothing is switched
    assert "TT − ZS" in table and "NLI accuracy" in table


def test_without_ways_nothing_is_added_and_folders_stay(tmp_path: Path) -> None:
    plain, more = (override(named("align_mlm_pocket"), [*BOTH, *ways]) for ways in ([], WAYS))
    before, after = ({step.folder for step in one.steps(tmp_path)} for one in (plain, more))
    assert before < after and len(after - before) == 3 * len(plain.models(tmp_path))
