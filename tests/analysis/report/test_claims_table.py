"""The table of claims: what stands beside each, and what the correction leaves of it."""

from __future__ import annotations

import pytest

from analysis.report.claims_table import HEADER, claims_table, written
from analysis.statistics.verdicts import HOLDS, HOLDS_ALONE, NO_RECORDS, ONE_SEED, UNDECIDED, Claim, Verdict
from tests.analysis.toy import joined


def claim(text: str, family: str, verdict: Verdict) -> Claim:
    return Claim(text, "Table 1", family, verdict)


def test_a_claim_has_its_p_alone_and_corrected_and_the_verdict_after_that() -> None:
    claims = [
        claim("first", "transfer", Verdict(HOLDS, "by 3", 0.03)),
        claim("second", "transfer", Verdict(HOLDS, "by 9", 0.001)),
        claim("third", "transfer", Verdict(HOLDS, "by 4", 0.028)),
        claim("alone", "alignment", Verdict(HOLDS, "by 5", 0.03)),
        claim("not known", "alignment", Verdict(ONE_SEED, "by 6")),
    ]
    table = claims_table(joined([]), [claim("never run", "transfer", Verdict(UNDECIDED, NO_RECORDS)), *claims], "toy")
    assert table is not None and table.header == HEADER
    assert table.rows == (
        ("first", HOLDS_ALONE, "0.03", "0.056", "transfer (3)", "by 3", "Table 1"),
        ("second", HOLDS, "0.001", "0.003", "transfer (3)", "by 9", "Table 1"),
        ("third", HOLDS_ALONE, "0.028", "0.056", "transfer (3)", "by 4", "Table 1"),
        ("alone", HOLDS, "0.03", "0.03", "alignment (1)", "by 5", "Table 1"),
        ("not known", ONE_SEED, "–", "–", "alignment", "by 6", "Table 1"),
    )


def test_without_a_record_there_is_no_table() -> None:
    assert claims_table(joined([]), [claim("never run", "transfer", Verdict(UNDECIDED, NO_RECORDS))], "toy") is None


@pytest.mark.parametrize(
    ("p", "text"), [(None, "–"), (1.0, "1"), (0.0123, "0.012"), (0.00012, "0.00012"), (1e-9, "< 0.0001")]
)
def test_a_p_is_written_to_two_digits(p: float | None, text: str) -> None:
    assert written(p) == text
