"""Whole reports in a browser: silent, without requests, accessible, no wider than the window, and whole on paper."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from calque.experiments.report import summarise_records
from calque.experiments.runs import ABOUT, describe_records
from tests.analysis.paged import toy_page
from tests.browser import AXE, audit, words_cut
from tests.experiments.committed import ROOT

pytestmark = pytest.mark.slow


def sweep(folder: Path) -> Path:
    """The committed records of pocket as those of a sweep of three values."""
    folder.mkdir()
    for name in ("floors.jsonl", ABOUT):
        shutil.copy(ROOT / "pocket" / name, folder)
    for name, key in (("runs", "id"), ("records", "run")):
        rows = [json.loads(line) for line in (ROOT / f"pocket/{name}.jsonl").read_text().splitlines()]
        with (folder / f"{name}.jsonl").open("w") as file:
            for value in ("0.1", "0.5", "1.0"):
                settings = {"settings": {"dictionary.fraction": value}} if name == "runs" else {}
                file.writelines(json.dumps({**row, key: f"{row[key]}@{value}", **settings}) + "\n" for row in rows)
    return folder


@pytest.fixture(scope="module", params=["toy", "sweep", "pocket", "align_mlm_pocket"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a report."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "toy":
        return toy_page(folder)
    source = sweep(folder / "records") if request.param == "sweep" else ROOT / request.param
    summarise_records(source, folder / "report", describe_records(source))
    return folder / "report" / "report.html"


@pytest.fixture(scope="module")
def found(page: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return audit(page.read_text(encoding="utf-8"), tmp_path_factory.mktemp("audit"))


def test_a_report_is_silent_asks_for_nothing_and_fits_the_window(found: dict[str, Any]) -> None:
    console, *windows = found.values()
    assert console == []
    assert [(one["requests"], one["overflow"]) for one in windows] == [(0, 0), (0, 0)]


@pytest.mark.skipif(AXE is None, reason="axe-core is not installed")
def test_axe_finds_nothing_serious_in_light_or_dark(found: dict[str, Any]) -> None:
    assert [one["violations"] for key, one in found.items() if key != "console" and one["violations"]] == []


def test_paper_cuts_no_word(page: Path, tmp_path: Path) -> None:
    assert words_cut(page, tmp_path) == []
