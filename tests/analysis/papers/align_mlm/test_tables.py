"""Tables: each number is where its head says, published ones are marked, missing ones are a dash."""

import csv
import io

from calque.analysis.papers.align_mlm.tables import alignment_table, scores_table
from calque.analysis.records.record import Published, Record
from calque.analysis.report.table import Table
from tests.analysis.runs import number
from tests.analysis.toy import joined


def record(measure: str, value: float, seed: int = 0) -> Record:
    return number("trans.inv", "MLM", seed, measure, "pos", "accuracy", value, 100, 9)


def cells(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.csv)))


def test_a_cell_is_the_mean_with_half_its_interval() -> None:
    values = [("SUP", 0.9, 0), ("SUP", 0.8, 1), ("ZS", 0.5, 0), ("ZS", 0.4, 1)]
    table = scores_table(joined([record(m, v, s) for m, v, s in values]), "toy scale")
    (row,) = cells(table)
    # t of 12.7 with one degree of freedom, times 5, cut off at 100:
    assert [row[f"POS accuracy SUP{end}"] for end in ("", " low", " high")] == ["85.0", "21.5", "100.0"]
    assert row["POS accuracy Δ"] == "40.0"  # paired by seed: the same, so no interval
    assert row["POS F1 on bare tags Δ"] == ""
    assert (row["objective"], row["transform"], row["source"]) == ("MLM", "Trans + Inv", "ours")
    assert "toy scale" in table.title and "2 seeds" in table.note
    assert table.header[: table.labels] == ("objective", "transform", "source")


def test_published_rows_are_marked_and_stand_under_their_own_metric() -> None:
    printed = [Published("ALIGN-MLM", 3, "XLM", "trans", "DELTA", "pos", "f1_bare_tags", -0.002)]
    table = scores_table(joined([record("SUP", 0.9)], printed), "toy scale")
    ours, theirs = cells(table)
    assert (theirs["source"], theirs["POS F1 on bare tags Δ"], theirs["POS accuracy Δ"]) == ("published", "-0.2", "")
    assert (ours["source"], ours["POS F1 on bare tags Δ"]) == ("ours", "")
    assert table.published == {1}


def test_settings_other_than_the_default_stay_out_of_the_main_table() -> None:
    other = [Published("ALIGN-MLM", 3, "MLM", "trans.inv", "SUP", "pos", "f1_bare_tags", 0.1, "dictionary 50%")]
    (row,) = cells(scores_table(joined([record("SUP", 0.9)], other), "toy scale"))
    assert row["source"] == "ours"


def test_table_8_has_alignment_of_the_last_step() -> None:
    def aligned(share: float, step: int) -> Record:
        return number("trans.inv", "MLM", 0, "alignment", "", "held-out", share, 50, step)

    table = alignment_table(joined([aligned(0.1, 5), aligned(0.4, 50), record("ZS", 0.2), record("SUP", 0.5)]), "toy")
    (row,) = cells(table)
    assert table.header[: table.labels] == ("objective", "transform", "source")
    assert (row["alignment@1 held-out"], row["alignment@1 all"], row["POS accuracy Δ"]) == ("40.0", "", "30.0")
