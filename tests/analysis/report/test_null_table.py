"""The null in a report: a row a measure and number of seeds, and what it says in words."""

from __future__ import annotations

from analysis.report.claims_table import null_sentences, null_table
from analysis.results.null import Rate
from analysis.statistics.intervals import Estimate
from tests.analysis.toy import joined, toy_records


def test_each_row_has_its_rate_beside_the_nominal_one() -> None:
    table = null_table(joined(toy_records(4)), "toy")
    assert table is not None
    assert [row[1:3] for row in table.rows] == [("1", "test items")] * 12 + [("2", "seeds")] * 12
    assert {row[4] for row in table.rows} == {"8"}
    assert all(row[3].endswith((" of 48", " of 528")) for row in table.rows)
    assert {row[-1] for row in table.rows} <= {"as nominal", "too often", "too seldom", "–"}


def test_words_say_what_one_seed_would_have_said_and_how_often_verdicts_err() -> None:
    items = Rate("all measures", 1, "items", 69, 100, 8, Estimate(0.69, 8, 0.6, 0.78))
    seeds = Rate("all measures", 2, "seeds", 11, 200, 8, Estimate(0.055, 8))
    first, second = null_sentences([items, seeds])
    assert first.endswith("called different in 69 of 100 comparisons (69.0 [60.0, 78.0] %).")
    assert second == "By verdicts over 2 seeds each they are in 11 of 200 comparisons (5.5 %)."
    assert null_sentences([items])[1].endswith("that takes 4 seeds, two of each.")


def test_one_seed_has_no_table() -> None:
    assert null_table(joined(toy_records(1)), "toy") is None
