"""What pairs try stands apart, in a table of its own, where records have it."""

import csv
import io

from calque.analysis.papers.align_mlm.tables import diagnostics_tables
from calque.analysis.records.record import Record
from tests.analysis.runs import number
from tests.analysis.toy import joined


def record(measure: str, metric: str, value: float) -> Record:
    return number("trans.inv", "MLM", 0, measure, "nli", metric, value, 100, 9)


def test_each_diagnostic_is_a_column_and_each_measure_a_row() -> None:
    values = [("SUP", "", 0.9), ("SUP", " of passive", 0.8), ("ZS", " of passive", 0.4), ("SUP", " of number", 0.7)]
    ((name, table),) = diagnostics_tables(joined([record(m, f"accuracy{of}", v) for m, of, v in values]), "toy scale")
    assert (name, table.title) == ("diagnostics-nli", "NLI by category: accuracy, toy scale")
    sup, zs = csv.DictReader(io.StringIO(table.csv))
    assert (sup["measure"], sup["number"], sup["passive"]) == ("SUP", "70.0", "80.0")
    assert (zs["measure"], zs["number"], zs["passive"]) == ("ZS", "", "40.0")


def test_there_is_no_table_where_no_record_tells_them_apart() -> None:
    assert not list(diagnostics_tables(joined([record("SUP", "accuracy", 0.9)]), "toy scale"))
