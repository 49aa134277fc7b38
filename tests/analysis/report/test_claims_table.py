"""Claims and the null as tables and in words."""

from calque.analysis.report.claims_table import (
    HEADER,
    claims_table,
)
from calque.analysis.report.table import Table
from calque.analysis.statistics.verdicts import (
    HOLDS,
    HOLDS_ALONE,
    NO_RECORDS,
    ONE_SEED,
    UNDECIDED,
    Claim,
    Verdict,
)
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
        ("first", HOLDS_ALONE, "0.03", "0.056", "transfer (3)", "by 3", "Table 1", "undecided"),
        ("second", HOLDS, "0.001", "0.003", "transfer (3)", "by 9", "Table 1", "agrees"),
        ("third", HOLDS_ALONE, "0.028", "0.056", "transfer (3)", "by 4", "Table 1", "undecided"),
        ("alone", HOLDS, "0.03", "0.03", "alignment (1)", "by 5", "Table 1", "agrees"),
        ("not known", ONE_SEED, "–", "–", "alignment", "by 6", "Table 1", "undecided"),
    )


def claims(*found: str) -> Table:
    return Table("Claims", ("claim", "verdict"), tuple((f"claim {i}", verdict) for i, verdict in enumerate(found)))
