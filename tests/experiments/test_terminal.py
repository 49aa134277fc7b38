"""The summary at the end of a run, and streams that are closed or cannot encode."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, Floor
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from calque.experiments.report import tables_of
from calque.experiments.report_records import results_of
from calque.experiments.terminal import WIDTH, Outcome, _fitted

ROOT = Path(__file__).parents[2]
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


@given(st.lists(st.integers(3, 26), min_size=2, max_size=20))
def test_a_wide_table_is_split_where_the_next_column_does_not_fit(widths: list[int]) -> None:
    header = tuple("a" * width for width in widths)
    lines = _fitted(Table("Many", header, (tuple("b" for _ in widths),)))
    assert lines[2::3] == [""] * (len(lines) // 3)
    groups = [[len(cell) for cell in line.split()] for line in lines[::3]]
    assert [width for _, *group in groups for width in group] == widths[1:]
    for own, following in zip(groups, [*groups[1:], None], strict=True):
        used = sum(width + 2 for width in own)
        assert own[0] == widths[0] and used <= WIDTH
        assert following is None or used + following[1] + 2 > WIDTH


def test_scores_are_those_of_the_records() -> None:
    shown = outcome("control", "align_mlm")
    (score,) = [score for score in shown.json["scores"] if score.get("task") == "pos"]
    assert f"{100 * score['ZS']['mean']:.1f}" in str(shown) and score["metric"] == "accuracy"
    assert score["DELTA"]["mean"] == pytest.approx(score["SUP"]["mean"] - score["ZS"]["mean"])
    assert any(score.get("ZS at floor") for score in outcome("align_mlm_pocket", "align_mlm").json["scores"])


def test_what_is_decided_comes_first() -> None:
    claims = Table(
        "claims",
        ("claim", "verdict", "p", "p, corrected", "family", "evidence", "source"),
        tuple((f"claim {i}", verdict, "", "", "", "a; b", "") for i, verdict in enumerate(VERDICTS)),
    )
    lines = str(Outcome("s", "", Path("f"), None, (), claims, {})).splitlines()
    assert [line.split(":")[-1].split()[1] for line in lines if line.startswith("- ")] == ["2", "4", "3"]


VERDICTS = ("undecided", "undecided: one seed", "holds", "holds alone, not after correction", "does not hold")


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
    ran = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, code], cwd=ROOT, check=False)
    assert ran.returncode == 0
    assert int((tmp_path / "file").read_text()) > 2
