"""Claims as a table: each with its verdict after correction for its family, and the p alone and corrected."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.covered import covered
from analysis.report.table import MISSING, Table
from analysis.results.claim import Claim
from analysis.results.results import Results
from analysis.statistics.families import Corrected, in_families
from analysis.statistics.verdicts import NO_RECORDS

HEADER = ("claim", "verdict", "p", "p, corrected", "family", "evidence", "source")
NOTE = (
    "Holds or does not hold: by a 95 % interval over seeds that lies wholly on that side, and still when the claims of "
    "a family are judged together (Holm), so that one family in twenty at most has any false finding. Alone, not after "
    "correction: by its own interval only. Undecided: by neither; one seed decides nothing, "
    "for seeds differ more than test items do. p is two-sided, of the test that the interval belongs to: Student’s t "
    "over seeds, for ρ the bootstrap; p, corrected is Holm’s. Family: its name, and how many of its claims have a p."
)
HEADLINES = "The paper’s headlines, tested"
OTHER_DATA = "verdicts say nothing of other data", "verdicts are about other draws of these too"
"""Where seeds share everything but the model, and where they do not."""


def claims_table(results: Results, claims: Sequence[Claim], scale: str, title: str = HEADLINES) -> Table | None:
    """Each claim with its verdict, the number that it rests on, and where it stands.

    Claims without records are left out; None if all are.
    """
    tested = [(claim, verdict) for claim in claims if (verdict := claim.test(results)).because != NO_RECORDS]
    if not tested:
        return None
    claims, verdicts = [claim for claim, _ in tested], [verdict for _, verdict in tested]
    together = in_families((claim.family, verdict) for claim, verdict in zip(claims, verdicts, strict=True))
    said = covered(results.redrawn)
    return Table(
        f"{title}, {scale}",
        HEADER,
        tuple(
            (
                claim.text,
                corrected.verdict,
                written(verdict.p),
                written(corrected.p),
                _family(claim.family, corrected),
                verdict.because,
                claim.where,
            )
            for claim, verdict, corrected in zip(claims, verdicts, together, strict=True)
        ),
        f"{NOTE} {said[0].upper()}{said[1:]}: {OTHER_DATA[bool(results.redrawn)]}.",
        runs=results.run_ids(),
    )


def written(p: float | None) -> str:
    """A p to two digits; one below a ten-thousandth is said to be that."""
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def _family(name: str, corrected: Corrected) -> str:
    return f"{name} ({corrected.of})" if corrected.of else name
