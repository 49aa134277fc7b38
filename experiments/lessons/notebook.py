"""Jupytext's percent format: a notebook as a Python file, whose cells start with `# %%`."""

import json
import re
from typing import Any

_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def cells(text: str) -> list[tuple[str, str]]:
    """The kind of each cell, markdown or code, and its content."""
    marks = list(_CELL.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    found = [(mark[1], text[mark.end() : end].strip("\n")) for mark, end in zip(marks, ends, strict=True)]
    return [("markdown", re.sub(r"^# ?", "", part, flags=re.M)) if kind else ("code", part) for kind, part in found]


def ipynb(text: str) -> str:
    """The notebook of a file in percent format, without outputs."""
    content = [_cell(number, *cell) for number, cell in enumerate(cells(text))]
    whole = {"cells": content, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    lines = text.splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines, **code}
