"""XLM-Align's Tables 8 to 10: counts and sums of what is printed, and cells of each column and corner."""

import pytest

from calque.analysis.papers.published import corpora

TABLES = corpora("xlm_align")
WEB, WIKIPEDIA, BITEXTS = TABLES["CCNet"], TABLES["Wikipedia"], TABLES["bitexts"]


@pytest.mark.parametrize(("table", "count", "total"), [(WEB, 87, 2078.1), (WIKIPEDIA, 87, 67.4), (BITEXTS, 14, 42.06)])
def test_counts_and_sums_are_those_of_the_printed_cells(table: dict[str, float], count: int, total: float) -> None:
    assert len(table) == count
    assert sum(table.values()) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(
    ("table", "name", "gigabytes"),
    [
        *((WEB, name, size) for name, size in [("af", 0.2), ("hi", 5.0), ("hr", 1.4), ("or", 0.3), ("zh", 96.8)]),
        *((WEB, name, size) for name, size in [("en", 731.6), ("ru", 253.3), ("ckb", 0.6), ("uz", 0.1)]),
        *((WIKIPEDIA, name, size) for name, size in [("af", 0.12), ("hi", 0.38), ("or", 0.04), ("zh", 1.08)]),
        *((WIKIPEDIA, name, size) for name, size in [("en", 12.58), ("ckb", 0.0), ("vi", 0.76)]),
        *((BITEXTS, name, size) for name, size in [("en-ar", 5.88), ("en-hi", 0.62), ("en-ru", 7.72), ("en-zh", 4.02)]),
    ],
)
def test_cells_are_as_printed(table: dict[str, float], name: str, gigabytes: float) -> None:
    assert table[name] == gigabytes
