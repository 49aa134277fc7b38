"""The units that tags belong to, as tables of POS name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from analysis.records.record import Record
from derive.readers.conllu import WORDS, XTREME
from derive.sources.files import TAGGED

UNITS: dict[str, str] = {
    WORDS: "syntactic words (French du is de and le); XTREME’s files have multiword tokens whole",
    XTREME: "XTREME’s: a multiword token (French du) is one unit with one tag",
}


def units_note(records: Iterable[Record], tasks: Collection[str]) -> str:
    """The units of POS in records of `tasks`, as a sentence with a space after it; empty without POS."""
    units = {record.units for record in records if record.task == TAGGED} if TAGGED in tasks else set[str]()
    return "".join(f"Units of POS: {UNITS[one]}. " for one in sorted(units))
