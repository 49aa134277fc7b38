"""The account of a derivation says everything that its manifest counts."""

from pathlib import Path

from calque.derive.artefact import Artefact
from calque.derive.order import Invert, Permute
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.task_data import KIND, derive_task
from calque.experiments.override import override
from calque.experiments.study import Study
from calque.experiments.summary import TORN, omissions
from tests.experiments.conftest import Done


def test_entities_that_an_order_tears_are_told_by_task_and_split(tmp_path: Path) -> None:
    source = PocketEnglish(size=50, pos=Sizes(2, 2, 2), ner=Sizes(40, 2, 20), nli=Sizes(2, 2, 2))
    folder = derive_task(source, "ner", [Permute(), Invert()], tmp_path / "ner", tmp_path / "cache")
    facts = Artefact.open(folder, KIND).facts
    splits, told = facts["splits"], list(omissions(facts, "ner"))
    for split in ("train", "test"):
        perm, inv = (splits[split]["languages"][name]["spans split"] for name in ("perm", "inv"))
        assert perm > 0 == inv
        assert f"ner, {split}, perm: {perm:,} {TORN}" in told
    assert not any(line.endswith(TORN) and ", inv" in line for line in told)


def test_a_study_that_measures_nothing_has_a_report(tiny: Study, tmp_path: Path) -> None:
    done = Done(tmp_path, override(tiny, ["measures=", "tasks=", "objectives=MLM", "transforms=trans"]))
    done.finish()
    assert "thread(s) per model" in (done.report / "report.html").read_text(encoding="utf-8")
