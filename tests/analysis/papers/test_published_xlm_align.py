"""XLM-Align's tables: their numbers, their averages, and where they contradict each other or the text."""

import pytest

from calque.analysis.papers.published import notes, published

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


def test_all_tables_are_there_with_their_numbers() -> None:
    sizes = {table: len(published(PAPER, table)) for table in (*range(1, 8), *range(13, 20))}
    assert sizes == {
        1: 53,
        2: 33,
        3: 20,
        4: 15,
        5: 15,
        6: 10,
        7: 20,
        13: 33,
        14: 40,
        15: 22,
        16: 14,
        17: 18,
        18: 15,
        19: 7,
    }
    assert all(0 < p.value < 1 and p.transform == "" for p in published(PAPER))
    assert {(p.measure, p.metric) for p in published(PAPER, 2)} == {("AER", "aer"), ("AER", "mean")}
    assert {(p.task, p.metric) for p in published(PAPER, 3)} == {
        ("nli", "accuracy"),
        ("pos", "f1_bare_tags"),
        ("ner", "f1"),
        ("qa", "f1"),
        ("average", "mean"),
    }


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


def test_what_the_paper_leaves_blank_is_not_there() -> None:
    assert set(rows(2)["", "fast_align"]) == {"en-de", "en-fr", "en-hi"}


@pytest.mark.parametrize("table", range(2, 8))
def test_averages_are_the_means_of_their_columns_within_rounding(table: int) -> None:
    for (_, setting), row in rows(table).items():
        if "average" in row:
            columns = PAIRS if table == 2 else TASKS
            unit = 1 if setting.endswith("SimAlign printed it") else 0.01 if table == 2 else 0.1
            # The columns are rounded by up to half a unit, and so is their mean.
            assert abs(sum(row[column] for column in columns) / 4 - row["average"]) <= unit + 1e-9, setting


def test_only_one_average_is_not_the_rounded_mean_of_its_columns_and_a_note_says_so() -> None:
    odd = []
    for table in range(3, 8):
        for (_, setting), row in rows(table).items():
            tenths = round(sum(10 * row[task] for task in TASKS))  # exact: four numbers of one decimal
            rounded = (2 * tenths + 4) // 8 / 10  # the mean of four, half a tenth up
            if rounded != row["average"]:
                odd.append((table, setting))
    assert odd == [(7, "queries unmasked")]
    assert "69.875" in notes(PAPER)[7]


def test_the_default_is_the_same_in_all_tables_but_table_5() -> None:
    default = ("XLM-Align", "")
    assert rows(3)[default] == rows(4)[default] == rows(6)[default] == rows(7)[default]
    assert rows(3)["XLM-Align", "without DWA"] == rows(7)["XLM-Align", "without DWA"]
    assert default not in rows(5)
    assert rows(5)["XLM-Align", "DWA layer 12"] == rows(4)["XLM-Align", "self-labelling layer 12"] != rows(3)[default]
    assert "self-labelling layer 12" in notes(PAPER)[5]


def test_where_table_2_contradicts_the_text() -> None:
    table = rows(2)
    worse = [
        (encoder, pair)
        for encoder in ("XLM-R", "XLM-Align")
        for pair in PAIRS
        if table[encoder, "optimal transport"][pair] >= table[encoder, "itermax"][pair]
    ]
    assert worse == [("XLM-R", "en-ro"), ("XLM-Align", "en-hi")]
    risen = [
        (aligner, pair)
        for aligner in ("itermax", "optimal transport")
        for pair in PAIRS
        if table["XLM-Align", aligner][pair] >= table["XLM-R", aligner][pair]
    ]
    assert risen == [("itermax", "en-fr")]
    assert all(number in notes(PAPER)[2] for number in ("27.49", "33.98", "10.33"))


def test_the_mean_of_table_13_is_that_of_table_1() -> None:
    by_language = {setting: row["pos"] for (_, setting), row in rows(13).items()}
    assert len(by_language) == 33
    assert round(sum(by_language.values()) / 33, 1) == 76.0
