"""Claims as a table: each with its verdict, alone and among the claims of its family."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.table import Table
from analysis.results.claim import Claim
from analysis.results.results import Results
from analysis.statistics.verdicts import in_families

NOTE = (
    "Holds or does not hold: by a 95 % interval over seeds that lies wholly on that side. Undecided: it does not, or "
    "there are no records; one seed decides nothing, for seeds differ more than test items do. Among its family: the "
    "verdict when the claims of a family are judged together (Holm), so that one family in twenty at most has any "
    "false finding. Seeds share the corpus, the dictionary and the test items: verdicts say nothing of other data."
)


def claims_table(results: Results, claims: Sequence[Claim], scale: str) -> Table:
    """Each headline with its verdicts, the number that they rest on, and where the headline stands."""
    verdicts = [claim.test(results) for claim in claims]
    together = in_families((claim.family, verdict) for claim, verdict in zip(claims, verdicts, strict=True))
    return Table(
        f"The paper’s headlines, tested, {scale}",
        ("claim", "verdict", "among its family", "evidence", "source"),
        tuple(
            (claim.text, verdict.verdict, word if word != verdict.verdict else "the same", verdict.because, claim.where)
            for claim, verdict, word in zip(claims, verdicts, together, strict=True)
        ),
        NOTE,
        runs=results.run_ids(),
    )
