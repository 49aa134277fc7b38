"""A grid whose models are fine-tuned on both languages at once, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.steps.evaluation import TranslateTrain

from analysis.records import json_rows
from analysis.records.record import Record
from derive.errors import BadInput
from experiments.names import study as named
from experiments.override import override
from experiments.schedule import compute
from tests.experiments.conftest import TINY

BOTH = [*TINY[:-2], "objectives=MLM", "finetune=pos,nli", "finetune.pos.epochs=1", "finetune.nli.epochs=1"]
WAYS = "translate_train=TT,TT-CS"


def test_each_way_has_records_and_a_table(tmp_path: Path) -> None:
    study = override(named("pocket"), [*BOTH, WAYS])
    assert study.mistakes() == []
    steps = study.steps(tmp_path)
    found = [step.measure for step in steps if isinstance(step, TranslateTrain)]
    assert found == ["pos-tt", "nli-tt", "nli-tt-cs"]
    compute(steps, study.home(tmp_path), 1)
    report = study.report(tmp_path, changed=False)
    study.summarise(tmp_path, report)
    records = json_rows.read(report / "records.jsonl", Record)
    measures = {(r.task, r.measure) for r in records if r.measure.startswith("TT")}
    assert measures == {
        *(("pos", f"TT{of}") for of in ("", "-SRC")),
        *(("nli", f"{way}{of}") for way in ("TT", "TT-CS") for of in ("", "-SRC")),
    }
    table = (report / "translate-train.md").read_text(encoding="utf-8")
    (pos,) = [row for row in table.splitlines() if "| POS accuracy" in row]
    assert pos.count("–") == 2  # one text: nothing is switched
    assert "TT − ZS" in table and "NLI accuracy" in table


def test_without_ways_nothing_is_added_and_folders_stay(tmp_path: Path) -> None:
    plain, more = (override(named("pocket"), [*BOTH, *ways]) for ways in ([], [WAYS]))
    before, after = ({step.folder for step in one.steps(tmp_path)} for one in (plain, more))
    assert before < after and len(after - before) == 3 * len(plain.transforms)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["translate_train=TT,TT"], "translate_train names one twice: 'TT'"),
        (["translate_train=TT-CS", "finetune=pos"], "translate_train: TT-CS is of examples with two texts"),
        (["translate_train=XX"], "translate_train"),
    ],
)
def test_bad_ways_are_refused(settings: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        study = override(named("pocket"), settings)
        raise BadInput("; ".join(study.mistakes()))
