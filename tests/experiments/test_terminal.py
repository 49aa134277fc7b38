"""The summary at the end of a run, and streams that are closed or cannot encode."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, Floor
from calque.analysis.report.html_table import best_cells
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from calque.experiments.report import tables_of
from calque.experiments.report_records import results_of
from calque.experiments.terminal import WIDTH, Outcome, _columns, _fitted, _scores

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "experiments" / "records"
WIDE = Table("Many", ("objective", *(f"task {i}" for i in range(30))), (("MLM", *(f"{i}.5" for i in range(30))),))


@cache
def outcome(study: str, paper: str) -> Outcome:
    """What a run of a study with committed records would print."""
    folder = RECORDED / study
    (results,) = results_of(folder)
    floors = json_rows.read(folder / FLOORS, Floor) if (folder / FLOORS).is_file() else []
    results, about = Results(results.runs.values(), results.records, floors=floors), PAPERS[paper]
    tables = tables_of(results, paper, "")
    claims, _ = tables.pop("claims", None), tables.pop("null", None)
    shown = {name: tables[name] for name in about.summary(tuple(tables))}
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


def test_scores_are_those_of_the_records_and_the_best_is_marked() -> None:
    """Five seeds of one objective, with nothing to be better than; and of several."""
    control, several = outcome("control", "align_mlm"), outcome("objectives_pocket", "equal_terms")
    assert control.results and several.results
    (score,) = [score for score in control.json["scores"] if score.get("task") == "pos"]
    assert f"{100 * score['ZS']['mean']:.1f}" in str(control)
    assert not any(f"{digit}*" in str(control) for digit in range(10))
    marked = [line for line in str(several).splitlines() if line.startswith("  ") and "*" in line]
    assert marked and all(any(line.strip().startswith(it) for it in _titles(several)) for line in marked)


@pytest.mark.parametrize("study", ["align_mlm_pocket", "pocket"])
def test_the_best_numbers_are_those_of_the_reports_tables(study: str) -> None:
    shown = outcome(study, "align_mlm")
    assert shown.results
    table, marked = tables_of(shown.results, "align_mlm", "")["table-3"], 0
    bold = {(table.rows[row][:2], table.header[column]) for row, column in best_cells(table)}
    scores = _scores(shown.results)
    for language, task in product(shown.results.transforms, shown.results.main_tasks):
        for column in _columns([score for score in scores if (score.language, score.task) == (language, task)]):
            under, head = (
                shown.results.transform_title(language),
                f"{column.group} {'Δ' if column.side < 0 else column.head}",
            )
            starred = {name for name in column.values if column.cell(name).endswith("*")}
            expected = {name for name in column.values if ((name, under), head) in bold}
            assert starred == expected - set(column.at_floor), (under, head)
            marked += len(starred)
    assert marked


def _titles(shown: Outcome) -> list[str]:
    assert shown.results
    return [shown.results.objective_title(name) for name in shown.results.objectives]


@pytest.mark.parametrize(
    ("study", "paper"),
    [("control", "align_mlm"), ("align_mlm_pocket", "align_mlm"), ("objectives_pocket", "equal_terms")],
)
def test_numbers_and_groups_end_under_their_heads(study: str, paper: str) -> None:
    blocks, _ = str(outcome(study, paper)).split("\n\nIn percent")
    for block in blocks.split("\n\n")[1:]:
        groups, *lines = block.splitlines() if study == "control" else ["", *block.splitlines()]
        heads = [head.end() for head in re.finditer(r"\S+", lines[0])][-5:-1]  # `held-out` fills its column
        assert {group.end() for group in re.finditer(r"\S+(?: \S+)*", groups)} <= {*heads, len(lines[0]) - 1}
        rows = [[number.end() for number in re.finditer(r"\d+\.\d", line)][:4] for line in lines[1:]]
        assert [row for row in rows if row] == [heads[: len(row)] for row in rows if row] != []


def test_scores_at_the_floor_are_marked() -> None:
    """So is a mean over tasks that all are."""
    shown = outcome("align_mlm_pocket", "align_mlm")
    cells: dict[tuple[str, str], list[bool]] = {}
    for score in shown.json["scores"]:
        if "task" in score:
            cells.setdefault((score["language"], score["objective"]), []).append(score["ZS at floor"])
    marks = sum(digit + "f" in line for line in str(shown).splitlines() for digit in "0123456789")
    assert marks == sum(sum(tasks) + all(tasks) for tasks in cells.values()) > 0


def test_of_one_seed_nothing_is_best() -> None:
    several = outcome("align_mlm_pocket", "align_mlm")
    assert several.results and "*" in str(several)
    runs = [run for run in several.results.runs.values() if run.seed == 0]
    records = [record for record in several.results.records if record.run in {run.id for run in runs}]
    shown = replace(several, results=Results(runs, records), claims=None)
    assert "one seed" in str(shown) and "*" not in str(shown)


def test_what_is_decided_comes_first() -> None:
    claims = Table(
        "claims",
        ("claim", "verdict", "p", "p, corrected", "family", "evidence", "source"),
        tuple((f"claim {i}", verdict, "", "", "", "a; b", "") for i, verdict in enumerate(VERDICTS)),
    )
    lines = str(Outcome("s", "", Path("f"), None, (), claims, {})).splitlines()
    assert [line.split(":")[-1].split()[1] for line in lines if line.startswith("- ")] == ["2", "4", "3"]


VERDICTS = ("undecided", "undecided: one seed", "holds", "holds alone, not after correction", "does not hold")


def test_a_wide_table_is_cut_into_columns_that_fit() -> None:
    shown = str(Outcome("s", "", Path("f"), None, (), None, {"many": WIDE}))
    assert max(map(len, shown.splitlines())) <= 80
    assert all(f"task {i}" in shown and f"{i}.5" in shown for i in range(30))


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
