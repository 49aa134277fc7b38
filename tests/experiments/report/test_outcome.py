import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, Floor
from calque.analysis.results.results import Results
from calque.experiments.report.folder import results_of
from calque.experiments.report.outcome import Outcome
from calque.experiments.report.report import tables_of

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "experiments" / "records"


@cache
def outcome(study: str, paper: str) -> Outcome:
    """What a run of a study with committed records would print."""
    folder = RECORDED / study
    (results,) = results_of(folder)
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    results, about = Results(results.runs.values(), results.records, floors=floors), PAPERS[paper]
    tables = tables_of(results, paper, "")
    claims, _ = tables.pop("claims", None), tables.pop("null", None)
    shown = {name: table for name, table in tables.items() if name in about.shown} or tables
    return Outcome(study, "its scale", folder, results, list(about.findings(results)), claims, shown)


@pytest.mark.parametrize(
    ("study", "paper"),
    [
        *(("pocket", "align_mlm"), ("control", "align_mlm"), ("objectives_pocket", "equal_terms")),
        *(("growth", "growth"), ("word_alignment", "links")),
        ("xtreme_small", "xtreme"),
    ],
)
def test_a_summary_fits_80_columns_and_is_ascii(study: str, paper: str) -> None:
    shown = outcome(study, paper)
    *lines, last = str(shown).splitlines()
    assert max(map(len, lines)) <= 80 and str(shown).isascii()
    assert last == str(shown.report)
    assert sum(line.startswith("- ") for line in lines) <= 3
    assert "no records" not in str(shown)


def test_closed_streams_show_nothing_and_no_file_takes_their_place(tmp_path: Path) -> None:
    code = f"""
import sys
from calque.experiments.cli import open_streams
open_streams()
with open({str(tmp_path / "file")!r}, "w") as file:
    print("by \u2212 1")
    print("by \u2212 1", file=sys.stderr)
    file.write(str(file.fileno()))
"""
    ran = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, code], cwd=ROOT, check=False
    )
    assert ran.returncode == 0
    assert int((tmp_path / "file").read_text()) > 2
