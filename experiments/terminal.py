"""What a terminal shows of a report that was written."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.report.table import Table


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
