"""The table of facts: what records say, and nothing without them."""

from analysis.papers.knowledge import COLUMNS, knowledge_table
from analysis.report.table import MISSING
from tests.analysis.told import told
from tests.analysis.toy import joined, toy_records


def test_the_table_has_each_number_below_its_head() -> None:
    ((name, table),) = knowledge_table(joined(told(1)), "scale")
    assert name == "knowledge" and table.header == ("objective", "transform", *(column.head for column in COLUMNS))
    assert [row[:2] for row in table.rows] == [("MLM", "Trans"), ("LINK", "Trans")]
    assert dict(zip(table.header, table.rows[0], strict=True)) | {"objective": "", "transform": ""} == {
        "objective": "", "transform": "", "asked in the source": "90.0", "stated in both": "80.0", "carried": "40.0",
        "of those known": MISSING, "answer seen": "60.0", "answer held out": "30.0", "subject seen": MISSING,
        "subject held out": MISSING, "chance": "12.5", "null": "13.0", "null, 95 %": "20.0",
        "seen, null 95 %": "50.0", "held out, null 95 %": "25.0",
    }  # fmt: skip


def test_without_facts_there_is_none() -> None:
    assert not list(knowledge_table(joined(toy_records(1)), "scale"))
