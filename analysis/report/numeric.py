"""Split columns of text cells into columns of data: numbers, ends of intervals, and the remaining text."""

import re
from collections.abc import Sequence
from decimal import Decimal

MISSING = "–"
_NUMBER = r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
_CELL = re.compile(
    rf"(?P<below>< )?(?P<value>{_NUMBER}|–(?= / ))(?: %| points| times(?: as high)?)?"
    rf"(?: ± (?P<half>{_NUMBER})|(?:, 95 % interval)? \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\])?"
    rf"(?: of (?P<of>{_NUMBER})| \((?P<brackets>{_NUMBER})\))?"
    rf"(?: / (?P<paper>{_NUMBER}))?"
    r"(?:[,;] (?P<note>(?=.*[^\W\d]).+)| (?P<mark>\*|\(.+\)))?"
)
"""Matches a cell that starts with a number, in the formats used in tables: `34.6 ± 2.1`, `28.2 [20.1, 36.9],
ZS at the floor`, `3 of 12`, `0.02 (1,049)`, `< 0.0001`, `34.6 ± 2.1 / 38.5`, `– / 38.5` (ours / the
paper's)."""
NOTE = " note"
HEADS = {"value": "", "low": " low", "high": " high", "of": " of", "brackets": " in brackets"}
HEADS |= {"paper": " in the paper", "note": NOTE}
"""The parts of a cell, each with the suffix that its column's heading gets."""


def numeric(cells: Sequence[str]) -> bool:
    """Whether any cell in a column starts with a number."""
    return any(map(_CELL.fullmatch, cells))


def interval(cell: str) -> tuple[float, float, float] | None:
    """Return the number at the start of a cell and the ends of its interval, which are the number itself if
    there is no interval; None if the cell does not start with a number."""
    if not (match := _CELL.fullmatch(cell)) or "value" not in (parts := _parts(match)):
        return None
    value = float(parts["value"])
    return value, float(parts.get("low", value)), float(parts.get("high", value))


def columns(head: str, cells: Sequence[str], label: bool = False) -> list[tuple[str, list[str]]]:
    """Split a column into columns of data with their headings: a text column, or one column for the number
    and one for each other part that occurs in any cell. Except for notes, every part is a number or empty.
    Text is escaped so that spreadsheets do not evaluate it."""
    if not numeric(cells) or (
        label and not all(cell == MISSING or re.fullmatch(_NUMBER, cell) for cell in cells)
    ):
        return [(inert(head), [_text(cell) for cell in cells])]
    rows = [_parts(match) if (match := _CELL.fullmatch(cell)) else {"note": _text(cell)} for cell in cells]
    shown = [part for part in HEADS if part == "value" or any(row.get(part) for row in rows)]
    return [(inert(head) + HEADS[part], [row.get(part, "") for row in rows]) for part in shown]


def inert(text: str) -> str:
    """Escape text that spreadsheets would read as a formula."""
    text = text.replace("−", "-")
    return f"'{text}" if re.match(r"[=+\-@\t\r]", text) else text


def _text(cell: str) -> str:
    return "" if cell == MISSING else inert(cell)


def _parts(match: re.Match[str]) -> dict[str, str]:
    parts = {
        part: _plain(match[part]) for part in HEADS if part != "note" and match[part] not in (None, MISSING)
    }
    if match["half"]:
        value, half = Decimal(parts["value"]), Decimal(_plain(match["half"]))
        parts |= {"low": str(value - half), "high": str(value + half)}
    note = match["note"] or match["mark"] or ("below" if match["below"] else "")
    return parts | {"note": inert(note)}


def _plain(number: str) -> str:
    return number.replace(",", "").replace("−", "-").removeprefix("+")
