"""The numbers printed in papers, in percent. One JSON file per paper contains its numbered tables. A row has
labels, named by the first columns, and one number per further column or, in tables with `languages`, one cell
per language."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calque.analysis.records.record import Published

FOLDER = Path(__file__).parent
LABELS = ("objective", "transform", "setting")
PLACES = 5  # decimals of a share, enough for percentages with two decimals


def published(paper: str, table: int | None = None) -> list[Published]:
    """Return the numbers in a paper's tables, or in one of them, as shares."""
    content = _content(paper)
    tables = (entry for entry in content["tables"] if table in (None, entry["table"]))
    return [number for entry in tables for row in entry["rows"] for number in _numbers(content, entry, row)]


def notes(paper: str) -> dict[int, str]:
    """Return the notes on a paper's tables, by table number."""
    return {table["table"]: table["note"] for table in _content(paper)["tables"] if "note" in table}


def corpora(paper: str) -> dict[str, dict[str, float]]:
    """Return the sizes of a paper's corpora in gigabytes, by corpus and language or language pair."""
    return {table["name"]: table["gigabytes"] for table in _content(paper).get("corpora", [])}


def _content(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def _numbers(content: dict[str, Any], table: dict[str, Any], row: list[Any]) -> Iterator[Published]:
    columns = [column for column in table["columns"] if column not in LABELS]
    first = len(table["columns"]) - len(columns)  # the position of the first number
    labels, cells = dict(zip(table["columns"], row[:first], strict=False)), row[first:]
    objective, transform, setting = (labels.get(name, "") for name in LABELS)
    about = content["paper"], table["table"], objective, transform
    title = content.get("titles", {}).get(transform, "")
    if "languages" not in table:
        cells = [cells]
    for language, cell in zip(table.get("languages", [""]), cells, strict=True):
        values = cell if isinstance(cell, list) else [cell]
        for column, value in zip(columns, values, strict=False):
            if value is not None:  # None where the paper prints a dash
                kind, share = _column(column, content["metrics"]), round(value / 100, PLACES)
                yield Published(*about, *kind, share, setting, title, language)


def _column(column: str, metrics: dict[str, str]) -> tuple[str, str, str]:
    if column in metrics or " " not in column:
        return column, "", metrics[column]
    task, measure, *metric = column.split()
    return measure, task, metric[0] if metric else metrics[task]
