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
"""A cell that starts with a number, such as `34.6 ± 2.1`, `28.2 [20.1, 36.9], ZS at the floor`, `3 of 12`,
`0.02 (1,049)`, `< 0.0001`, `34.6 ± 2.1 / 38.5` (ours / the paper's) and `– / 38.5`."""
NOTE = " note"
HEADS = {"value": "", "low": " low", "high": " high", "of": " of", "brackets": " in brackets"}
HEADS |= {"paper": " in the paper", "note": NOTE}
"""Suffixes of headings, by part of a cell."""


def numeric(cells: Sequence[str]) -> bool:
    """Whether any cell in a column starts with a number."""
    return any(map(_CELL.fullmatch, cells))


def interval(cell: str) -> tuple[float, float, float] | None:
    """Return the number at the start of a cell and the ends of its interval (default: the number), or None if
    the cell does not start with a number."""
    if not (match := _CELL.fullmatch(cell)) or "value" not in (parts := _parts(match)):
        return None
    value = float(parts["value"])
    return value, float(parts.get("low", value)), float(parts.get("high", value))


def columns(head: str, cells: Sequence[str], label: bool = False) -> list[tuple[str, list[str]]]:
    """Split a column into columns of data with their headings: one column of text, or one column of numbers
    and one for each other part that occurs in any cell. Every part except a note is a number or empty."""
    plain = all(cell == MISSING or re.fullmatch(_NUMBER, cell) for cell in cells)
    if not numeric(cells) or (label and not plain):
        return [(inert(head), [_text(cell) for cell in cells])]
    rows = [_parts(match) if (match := _CELL.fullmatch(cell)) else {"note": _text(cell)} for cell in cells]
    shown = [part for part in HEADS if part == "value" or any(row.get(part) for row in rows)]
    return [(inert(head) + HEADS[part], [row.get(part, "") for row in rows]) for part in shown]


def inert(text: str) -> str:
    """Escape text that spreadsheets would evaluate as a formula."""
    text = text.replace("−", "-")
    return f"'{text}" if re.match(r"[=+\-@\t\r]", text) else text


def _text(cell: str) -> str:
    return "" if cell == MISSING else inert(cell)


def _parts(match: re.Match[str]) -> dict[str, str]:
    named = {part: text for part, text in match.groupdict().items() if text not in (None, MISSING)}
    note = named.pop("note", "") or named.pop("mark", "") or ("below" if named.pop("below", "") else "")
    parts = {part: text.replace(",", "").replace("−", "-").removeprefix("+") for part, text in named.items()}
    if "half" in parts:
        value, half = Decimal(parts["value"]), Decimal(parts["half"])
        parts |= {"low": str(value - half), "high": str(value + half)}
    return parts | {"note": inert(note)}
