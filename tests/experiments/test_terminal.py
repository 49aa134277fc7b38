"""What a terminal shows of a report."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calque.analysis.report.table import Table
from calque.experiments.report import terminal_text

ROOT = Path(__file__).parents[2]
NARROW = Table("Few", ("objective", "ZS"), (("MLM", "1.0"),))
WIDE = Table("Many", ("objective", *(f"task {i}" for i in range(30))), (("MLM", *("1.0",) * 30),))
FINDING = "MLM loses least on what there is to lose, " * 5


def test_the_width_of_a_table_is_that_of_its_lines() -> None:
    for table in (NARROW, WIDE):
        assert {len(line) for line in table.markdown.splitlines()[2:]} == {table.width}


def test_at_a_terminal_nothing_is_wider_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    said = terminal_text(Path("report"), [FINDING], {"few": NARROW, "many": WIDE})
    assert max(map(len, said.splitlines())) <= 80
    assert f"report/many.md ({WIDE.width} columns)" in said
    assert NARROW.markdown.rstrip() in said and "task 1" not in said
    assert said.endswith("\nreport/report.html")


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


def test_what_a_stream_cannot_encode_is_written_as_an_escape() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "experiments", "show", "two \u2212 \u0394 one", "inv"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "latin1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and "\\u2212" in ran.stdout and not ran.stderr


def test_elsewhere_every_table_is_whole() -> None:
    said = terminal_text(Path("report"), [FINDING], {"few": NARROW, "many": WIDE})
    assert NARROW.markdown.rstrip() in said and WIDE.markdown.rstrip() in said and FINDING in said
    assert said.endswith("\nreport/report.html")
