"""Tables of POS name the units that their records have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.papers.align_mlm.tables import scores_table
from analysis.papers.texts import UNITS, units_note
from analysis.records.record import Record
from tests.analysis.toy import joined, toy_records


def test_every_unit_of_the_records_is_named() -> None:
    words = Record("r", "ZS", "accuracy", 0.5, 2, task="pos")
    whole, other = replace(words, units="xtreme"), replace(words, task="ner")
    for records, named in (([words, other], {"words"}), ([whole], {"xtreme"}), ([whole, words], {"words", "xtreme"})):
        note = units_note(records, ["pos"])
        assert {unit for unit, text in UNITS.items() if text in note} == named
    assert units_note([words, other], ["ner"]) == ""


def test_a_table_with_pos_names_its_units() -> None:
    assert UNITS["words"] in scores_table(joined(toy_records()), "toy").note


def test_a_record_of_other_units_is_refused() -> None:
    with pytest.raises(ValueError, match="'bytes'"):
        replace(Record("r", "ZS", "accuracy", 0.5, 2, task="pos"), units="bytes").check()
