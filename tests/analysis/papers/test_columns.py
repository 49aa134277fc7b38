"""Tables and figures that are entries of texts.toml: what records say, and nothing without them."""

from dataclasses import replace

import pytest

from calque.analysis.papers.columns import specified_figures, specified_tables
from calque.analysis.papers.texts import TEXTS
from calque.analysis.records.record import CARRIED
from calque.analysis.report.table import MISSING
from tests.analysis.runs import number
from tests.analysis.told import told
from tests.analysis.toy import joined, toy_records


def test_the_table_has_each_number_below_its_head() -> None:
    ((name, table),) = specified_tables("align_mlm", joined(told(1)), "scale")
    heads = [column["head"] for column in TEXTS["tables"]["knowledge"]["columns"]]
    assert name == "knowledge" and table.header == ("objective", "transform", *heads)
    assert [row[:2] for row in table.rows] == [("MLM", "Trans"), ("LINK", "Trans")]
    assert dict(zip(table.header, table.rows[0], strict=True)) | {"objective": "", "transform": ""} == {
        "objective": "", "transform": "", "asked in the source": "90.0", "stated in both": "80.0", "carried": "40.0",
        "of those known": MISSING, "answer seen": "60.0", "answer held out": "30.0", "subject seen": MISSING,
        "subject held out": MISSING, "chance": "12.5", "null": "13.0", "null, 95 %": "20.0",
        "seen, null 95 %": "50.0", "held out, null 95 %": "25.0",
    }  # fmt: skip


def test_a_figure_of_columns_shows_each_number_at_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [
        {"head": "carried", "measure": CARRIED, "metric": "all"},
        {"head": "chance", "measure": CARRIED, "metric": "chance"},
    ]
    entry = {"papers": ["growth"], "heading": "Facts", "title": "Facts", "caption": "{bars}", "columns": columns}
    monkeypatch.setitem(TEXTS["figures"], "figure-facts", entry)
    (plot,) = specified_figures("growth", joined(told(1)), "scale")
    assert plot
    carried, chance = plot.figure.axes
    assert [panel.get_title() for panel in (carried, chance)] == ["carried", "chance"]
    assert [line.get_ydata()[0] for line in carried.lines] == pytest.approx([40, 45])
    assert [label.get_text() for label in carried.get_xticklabels()] == ["Trans"]
    assert {(r.measure, r.metric) for r in plot.records} == {(CARRIED, "all"), (CARRIED, "chance")}
    assert list(specified_figures("growth", joined(toy_records(1)), "scale")) == [None]


def test_a_measure_of_ones_own_has_a_table_without_a_line_of_code() -> None:
    own = [number("trans", "MLM", seed, "longer rows", "", "all", 0.25, 100, 400) for seed in range(2)]
    ((name, table),) = specified_tables("align_mlm", joined([*toy_records(2), *own]), "scale")
    assert (name, table.header[2:], table.rows[0][2]) == ("own-measures", ("longer rows",), "25.0")
    assert len(table.rows) == 1
    more = [replace(record, metric="held-out") for record in own]  # several metrics are told apart
    ((_, table),) = specified_tables("align_mlm", joined([*toy_records(2), *own, *more]), "scale")
    assert table.header[2:] == ("longer rows all", "longer rows held-out")
