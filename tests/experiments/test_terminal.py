"""What a terminal shows of a report."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from analysis.report.table import Table
from experiments.terminal import told

NARROW = Table("Few", ("objective", "ZS"), (("MLM", "1.0"),))
WIDE = Table("Many", ("objective", *(f"task {i}" for i in range(30))), (("MLM", *("1.0",) * 30),))
FINDING = "MLM loses least on what there is to lose, " * 5


def test_the_width_of_a_table_is_that_of_its_lines() -> None:
    for table in (NARROW, WIDE):
        assert {len(line) for line in table.markdown.splitlines()[2:]} == {table.width}


def test_at_a_terminal_nothing_is_wider_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    said = told(Path("report"), [FINDING], {"few": NARROW, "many": WIDE})
    assert max(map(len, said.splitlines())) <= 80
    assert f"report/many.md ({WIDE.width} columns)" in said
    assert NARROW.markdown.rstrip() in said and "task 1" not in said
    assert said.endswith("\nreport/report.html")


def test_elsewhere_every_table_is_whole() -> None:
    said = told(Path("report"), [FINDING], {"few": NARROW, "many": WIDE})
    assert NARROW.markdown.rstrip() in said and WIDE.markdown.rstrip() in said and FINDING in said
    assert said.endswith("\nreport/report.html")
