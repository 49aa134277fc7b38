"""XLM-Align's tables: their numbers, their averages, and where they contradict each other or the text."""

import pytest

from calque.analysis.papers.published import published

PAPER = "xlm_align"
TASKS = ("nli", "pos", "ner", "qa")
PAIRS = ("en-de", "en-fr", "en-hi", "en-ro")
Row = dict[str, float]


def rows(table: int) -> dict[tuple[str, str], Row]:
    """Objective and setting to task to number, in percent."""
    found: dict[tuple[str, str], Row] = {}
    for p in published(PAPER, table):
        found.setdefault((p.objective, p.setting), {})[p.task] = round(100 * p.value, 3)
    return found


@pytest.mark.parametrize(
    ("table", "row", "task", "value"),
    [
        (2, ("", "fast_align"), "en-hi", 59.9),
        (2, ("XLM-R", "argmax, as SimAlign printed it"), "en-fr", 7),
        (2, ("XLM-R", "optimal transport"), "en-de", 17.74),
        (2, ("XLM-Align", "optimal transport"), "average", 21.05),
        (3, ("XLM-Align", "without DWA, without TLM"), "pos", 75.7),
        (3, ("XLM-Align", "without TLM"), "ner", 60.4),
        (4, ("XLM-Align", "self-labelling layer 8"), "ner", 61.9),
        (5, ("XLM-Align", "DWA layer 10"), "qa", 66.3),
        (6, ("XLM-Align", "without filtering"), "qa", 65.3),
        (7, ("XLM-Align", "queries unmasked"), "nli", 75.5),
        (13, ("XLM-Align", "en"), "pos", 95.9),
        (13, ("XLM-Align", "ja"), "pos", 51.1),
    ],
)
def test_numbers_as_printed(table: int, row: tuple[str, str], task: str, value: float) -> None:
    assert rows(table)[row][task] == value


@pytest.mark.parametrize("table", range(2, 8))
def test_averages_are_the_means_of_their_columns_within_rounding(table: int) -> None:
    for (_, setting), row in rows(table).items():
        if "average" in row:
            columns = PAIRS if table == 2 else TASKS
            unit = 1 if setting.endswith("SimAlign printed it") else 0.01 if table == 2 else 0.1
            # The columns are rounded by up to half a unit, and so is their mean.
            assert abs(sum(row[column] for column in columns) / 4 - row["average"]) <= unit + 1e-9, setting
