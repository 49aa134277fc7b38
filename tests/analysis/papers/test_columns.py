"""Tables and figures that are entries of texts.toml: what records say, and nothing without them."""

from dataclasses import replace

from calque.analysis.papers.columns import specified_tables
from tests.analysis.runs import number
from tests.analysis.toy import joined, toy_records


def test_a_measure_of_ones_own_has_a_table_without_a_line_of_code() -> None:
    own = [number("trans", "MLM", seed, "longer rows", "", "all", 0.25, 100, 400) for seed in range(2)]
    ((name, table),) = specified_tables("align_mlm", joined([*toy_records(2), *own]), "scale")
    assert (name, table.header[2:], table.rows[0][2]) == ("own-measures", ("longer rows",), "25.0")
    assert len(table.rows) == 1
    more = [replace(record, metric="held-out") for record in own]  # several metrics are told apart
    ((_, table),) = specified_tables("align_mlm", joined([*toy_records(2), *own, *more]), "scale")
    assert table.header[2:] == ("longer rows all", "longer rows held-out")
