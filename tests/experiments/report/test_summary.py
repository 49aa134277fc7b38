from functools import reduce

import pytest

from calque.derive.strict_json import loads
from calque.experiments.report.summary import scale
from calque.experiments.settings.override import override, replaced
from tests.experiments.committed import ROOT, committed, natural
from tests.experiments.conftest import Done
from tests.experiments.test_records import STUDIES

OLDER = ("word_alignment",)  # its study's description of the text has changed


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in OLDER])
def test_committed_records_have_the_scale_of_their_study(name, monkeypatch):
    about = loads(committed(ROOT / name / "about.json"))
    study = reduce(replaced, about.get("settings", []), natural(about["study"], monkeypatch))
    assert about["scale"] == scale(study)
    assert any(about["scale"] in committed(table) for table in (ROOT / name).glob("*.md"))


def test_study_without_measures_has_a_report(tiny, tmp_path):
    done = Done(tmp_path, override(tiny, ["measures=", "tasks=", "objectives=MLM", "transforms=trans"]))
    done.finish()
    assert "thread(s) per model" in (done.report / "report.html").read_text()
