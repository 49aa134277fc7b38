"""Tables 3 to 7 of XLM-Align, ours and the paper's."""

from matplotlib.axes import Axes

from calque.analysis.papers.looks import BY_NAME
from calque.analysis.papers.xlm_align.ablations import ablation_tables, errors
from calque.analysis.papers.xlm_align.figures import ARROWS
from calque.analysis.records.record import AER, Published
from tests.analysis.aligned import ABLATIONS, STARTS, aligned_records
from tests.analysis.drawn import coordinates
from tests.analysis.toy import joined


def printed(table: int, setting: str, pos: float) -> list[Published]:
    return [
        Published("XLM-Align", table, "XLM-Align", "", "ZS", task, "f1", pos + i / 1000, setting)
        for i, task in enumerate(("nli", "pos", "ner", "qa"))
    ]


PAPER = [
    *printed(3, "", 0.7),
    *printed(3, "without DWA", 0.68),
    *printed(6, "", 0.7),
    *printed(6, "without filtering", 0.65),
]


def test_every_table_has_our_rows_and_the_papers() -> None:
    tables = dict(ablation_tables(joined(aligned_records(ABLATIONS), PAPER), "toy"))
    assert list(tables) == ["table-3", "table-4", "table-5", "table-6", "table-7"]
    settings = {name: [(row[0], row[2]) for row in table.rows] for name, table in tables.items()}
    assert settings["table-3"] == [
        ("XLM-Align", "ours"),
        ("without DWA", "ours"),
        ("without TLM", "ours"),
        ("without DWA, without TLM", "ours"),
        ("XLM-Align", "published"),
        ("without DWA", "published"),
    ]
    assert settings["table-4"] == [("XLM-Align", "ours"), ("self-labelling layer 1, of ours", "ours")]
    assert settings["table-5"] == [("XLM-Align", "ours"), ("DWA layer 1, of ours", "ours")]
    assert [name for name, whose in settings["table-7"] if whose == "ours"] == [
        "XLM-Align",
        "queries unmasked",
        "queries all-aligned",
        "without DWA",
    ]
    assert {table.header[: table.labels] for table in tables.values()} == {("setting", "languages", "source")}
    assert "starts after ALIGN-MLM" in tables["table-3"].note
    published = [tables["table-3"].rows[i] for i in tables["table-3"].published]
    assert published[0][3:7] == ("70.0", "70.2", "70.1", "70.3")


def test_a_table_without_a_setting_to_compare_is_left_out() -> None:
    assert list(dict(ablation_tables(joined(aligned_records(STARTS)), "toy"))) == ["table-3"]
    for too_few in ((), ("XLM-ALIGN",)):
        assert not list(ablation_tables(joined(aligned_records(too_few)), "toy"))


def test_the_error_rate_is_that_of_the_last_layer() -> None:
    results = joined(aligned_records(("MLM",)))
    assert errors(results, "MLM", results.transforms[0]) == results.scores(
        AER, "MLM", results.transforms[0], "", "aer", layer=2
    )
    assert errors(joined([]), "MLM", "trans") == {}


LEFT, RIGHT = ARROWS
OURS = BY_NAME["XLM-ALIGN"].colour
COLOURS = (OURS, BY_NAME["MLM"].colour)
"""XLM-Align's forms, and what is left without its parts."""


def ours(panel: Axes) -> dict[int, float]:
    """Our numbers by row."""
    return {
        round(float(y)): float(x)
        for line in panel.lines
        if line.get_color() in COLOURS and line.get_marker() not in ARROWS
        for x, y in zip(*coordinates(line), strict=True)
    }
