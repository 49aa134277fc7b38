"""An objective is one file and one entry of a list: a toy runs from the command line to the report."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import pretrain.objectives
from analysis.papers import texts
from derive.forms import percent
from derive.languages import Languages
from pretrain.mask import MASK_RATE
from pretrain.objective import Stream
from pretrain.objectives import parse
from pretrain.objectives.mlm import Monolingual, TextObjective
from tests.experiments.conftest import TINY
from tests.experiments.test_cli import calque


class SomeBackwards(Monolingual):
    """Rows of text, of which a share is read from the end."""

    def __init__(self, languages: Languages, length: int, mask_rate: float, share: float) -> None:
        super().__init__(languages, length, mask_rate)
        self.share = share

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        ids, languages = super().read(instances)
        turned = np.asarray(instances) % 100 < 100 * self.share
        ids[turned, 1:] = ids[turned, :0:-1]
        return ids, languages


@dataclass(frozen=True)
class Backwards(TextObjective):
    """MLM on text of which a `share` of the rows is read from the end."""

    share: float = 0.5
    mask_rate: float = MASK_RATE

    short_name, full_name = "BACKWARDS", "Backwards"
    forms = (percent("share", "-", "{percent} % of the rows", "25"),)
    summary = "Backwards is MLM that reads some rows from the end."

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [SomeBackwards(languages, length, self.mask_rate, self.share)]


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of objectives with the toy at its end."""
    objectives = (*pretrain.objectives.OBJECTIVES, Backwards)
    for module in (pretrain.objectives, texts):
        monkeypatch.setattr(module, "OBJECTIVES", objectives)


def test_its_fields_make_its_name_its_title_its_row_and_its_parser() -> None:
    assert parse("BACKWARDS-25") == Backwards(0.25)
    assert (Backwards(0.25).name, Backwards(0.25).title) == ("BACKWARDS-25", "Backwards, 25 % of the rows")
    row = "| `BACKWARDS` | Backwards is MLM that reads some rows from the end. | `-25`: 25 % of the rows |"
    assert pretrain.objectives.table()[-1] == row


def test_it_runs_from_the_command_line_to_the_report(tmp_path: Path) -> None:
    settings = [
        *TINY,
        "train.steps=4",
        "train.warmup=1",
        "train.probe_every=0",
        "objectives=MLM,BACKWARDS-25-after-MLM",
    ]
    words = [word for setting in settings for word in ("--set", setting)]
    code, _, err = calque("run", "pocket", "--runs", str(tmp_path), "--jobs", "1", *words)
    assert code == 0, err
    (report,) = (tmp_path / "pocket").glob("report-*")
    runs = [json.loads(line) for line in (report / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    parts = {run["objective"]["name"]: run["objective"]["parts"][0] for run in runs if run.get("objective")}
    assert parts.keys() == {"MLM", "BACKWARDS-25-after-MLM"}
    assert (parts["BACKWARDS-25-after-MLM"]["kind"], parts["BACKWARDS-25-after-MLM"]["share"]) == ("Backwards", 0.25)
    assert Backwards.summary in (report / "report.html").read_text(encoding="utf-8")


def test_the_readme_says_of_objectives_what_they_say_themselves() -> None:
    """An objective that is added later may have no row there yet."""
    table = pretrain.objectives.table()
    lines = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").splitlines()
    rows = lines[lines.index(table[0]) + 2 :]
    rows = rows[: rows.index("") - 1]  # the last one is about any two of them
    assert len(rows) >= 10 and set(rows) <= set(table)
