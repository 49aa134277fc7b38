"""The account of a derivation says everything that its manifest counts."""

import re
from functools import reduce
from pathlib import Path

import pytest

from calque.derive.strict_json import loads
from calque.experiments.override import override, replaced
from calque.experiments.study import Study
from calque.experiments.summary import omissions, scale
from tests.experiments.committed import ROOT, committed, natural
from tests.experiments.conftest import Done
from tests.experiments.test_records import STUDIES

OLDER = ("word_alignment",)  # its study describes its text in other words now


def test_every_count_of_a_manifest_is_told_once() -> None:
    """And nothing else is, except the sum over the sides of a bitext."""
    language = {"in": {"sentences": 11, "words": 12}, "out": {"sentences": 13}, "left out": {"empty": 14, "long": 15}}
    part = {"in": {"sentences": 16}, "out": {"sentences": 17}, "kept in place": {"crossing nodes": 18}}
    facts = {
        "examples": 19,
        "left out": {"pairs": 20},
        "spans split": 21,
        "sides": [{"tokens": 22}, {"tokens": 23}],
        "languages": {"inv": language | {"spans split": 24}},
        "splits": {"dev": {"examples": 25, "left out": {}, "spans split": 0}},
        "pairs": [part | {"languages": ["en", "fr"]}, {"languages": ["en", "de"], "left out": {"unread": 99}}],
        "vocabulary": {"size": 600, "unseen types": 26, "rare words not trained on": 27},
    }
    lines = list(omissions(facts, "it"))
    told = [int(number) for line in lines for number in re.findall(r"\b[0-9]+\b", line.replace("alignment@1", ""))]
    assert sorted(told) == sorted([*range(11, 22), 22 + 23, *range(24, 28)])
    for begins, count in (
        ("it, inv: ", 14),
        ("it, dev: ", 25),
        ("it, en-fr: ", 18),
        ("vocabulary: ", 26),
        ("it: ", 20),
    ):
        assert any(line.startswith(begins) and str(count) in line for line in lines)
    assert list(omissions({"vocabulary": {"unseen types": 0}, "spans split": 0, "examples": 3})) == []


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in OLDER])
def test_committed_records_have_the_scale_of_their_study(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    about = loads(committed(ROOT / name / "about.json"))
    study = reduce(replaced, about.get("settings", []), natural(about["study"], monkeypatch))
    assert about["scale"] == scale(study)
    assert any(about["scale"] in committed(table) for table in (ROOT / name).glob("*.md"))


def test_a_study_that_measures_nothing_has_a_report(tiny: Study, tmp_path: Path) -> None:
    done = Done(tmp_path, override(tiny, ["measures=", "tasks=", "objectives=MLM", "transforms=trans"]))
    done.finish()
    assert "thread(s) per model" in (done.report / "report.html").read_text(encoding="utf-8")
