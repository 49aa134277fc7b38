"""Terms and units of a report."""

from dataclasses import replace

import pytest

from calque.analysis.papers.align_mlm.tables import scores_table
from calque.analysis.papers.texts import UNITS, terms, units_note
from calque.analysis.records.record import ALIGNMENT, Floor, Record
from calque.analysis.results.results import Results
from tests.analysis.aligned import STARTS, aligned_records
from tests.analysis.runs import number, runs
from tests.analysis.toy import joined, toy_records


def test_a_study_of_align_mlm_is_not_told_of_xlm_align() -> None:
    found = dict(terms(joined(toy_records(1))))
    titles = ["Source and derived language", "SUP, ZS and Δ", "Tasks", "alignment@1", "Pretraining objectives"]
    assert list(found) == titles and "POS is tagging" in found["Tasks"] and "QA" not in found["Tasks"]
    assert "Inv reverses" in found["Source and derived language"] and "Syn" not in found["Source and derived language"]
    assert "DICT-MLM is" in found["Pretraining objectives"] and "XLM-Align" not in " ".join(found.values())


def test_a_study_of_xlm_align_is_told_of_what_it_begins_with() -> None:
    found = dict(terms(joined(aligned_records(STARTS, seeds=1))))
    assert {"AER", "Self-labelling"} <= found.keys()
    text = found["Pretraining objectives"]
    assert all(f"{name} is" in text for name in ("MLM", "ALIGN-MLM", "XLM-Align"))
    assert "XLM is" not in text and "DICT-MLM" not in text


def test_another_order_is_explained_where_there_is_one() -> None:
    syntax = number("trans.syn-romance", "MLM", 0, ALIGNMENT, "", "all", 0.5, 9)
    found = dict(terms(joined([syntax])))
    assert "Syn gives" in found["Source and derived language"] and "Inv" not in found["Source and derived language"]
    assert "SUP, ZS and Δ" not in found


def test_floors_are_explained_where_there_are_some() -> None:
    records = toy_records(1)
    low = Floor("majority", "majority", "pos", "accuracy", 0.2, 9, "trans", "source")
    assert "Floor, retained transfer" in dict(terms(Results(runs(records), records, floors=[low])))
    assert "Floor, retained transfer" not in dict(terms(joined(records)))


def test_nothing_measured_needs_no_terms() -> None:
    assert list(terms(joined([]))) == []


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
