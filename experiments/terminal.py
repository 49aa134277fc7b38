"""What a terminal shows: streams that can be written to, and a report that was written."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.report.table import Table


def open_streams() -> None:
    """Make the standard streams usable whatever they are.

    One that is closed shows nothing: its number must not be reused by a file that is opened later. A character that
    a stream's encoding lacks is written as its escape.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name, number in (("stdout", 1), ("stderr", 2)):
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def told(report: Path, findings: Sequence[str], tables: Mapping[str, Table]) -> str:
    """The findings, the tables by the names of their files, and the page's path, last.

    At a terminal, a table that is wider than it is named and not shown, for wrapped lines cannot be read.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    said = [textwrap.fill(finding, width) if width else finding for finding in findings]
    beyond = []
    for name, table in tables.items():
        if width and table.width > width:
            beyond.append(f"{report / f'{name}.md'} ({table.width} columns)")
        else:
            said.append(table.markdown.rstrip())
    if beyond:
        said.append("\n".join(["Too wide for this terminal:", *beyond]))
    return "\n\n".join([*said, str(report / "report.html")])
