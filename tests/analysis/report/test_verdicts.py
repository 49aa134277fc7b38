"""Verdicts are counted in a sentence."""

from __future__ import annotations

from analysis.report.claims_table import listed, verdicts
from analysis.report.table import Table


def claims(*found: str) -> Table:
    return Table("Claims", ("claim", "verdict"), tuple((f"claim {i}", verdict) for i, verdict in enumerate(found)))


def test_every_claim_is_counted_under_its_verdict() -> None:
    several = claims("holds", "undecided", "does not hold", "holds", "undecided", "holds")
    assert verdicts(several) == "Of 6 claims tested, 3 hold, 2 are undecided and 1 does not hold."
    assert verdicts(claims("does not hold")) == "Of 1 claim tested, 1 does not hold."
    assert verdicts(claims("undecided: one seed")) == "Of 1 claim tested, 1 is undecided: one seed."
    taken_back = claims("holds alone, not after correction", "holds", "fails alone, not after correction")
    assert verdicts(taken_back) == (
        "Of 3 claims tested, 1 holds alone but not after correction, 1 holds and 1 fails alone but not after "
        "correction."
    )


def test_lists_read_as_in_a_sentence() -> None:
    assert [listed(list(words)) for words in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
