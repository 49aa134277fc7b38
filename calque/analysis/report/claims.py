"""Tabulate claims with their verdicts."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from calque.analysis.report.table import MISSING, Table, covered
from calque.analysis.results import Results
from calque.analysis.verdicts import FAILS, HOLDS, NO_RECORDS, UNDECIDED, WEAKEST, Claim, Verdict, in_families

HEADLINES = "The paper’s headlines, tested"
TESTED = PRIMARY_CLAIMS, CLAIMS = "primary-claims", "claims"  # names of tables
AGREEMENT = {HOLDS: "agrees", FAILS: "disagrees"}  # how our verdict relates to the paper's claim
HEADER = ("claim", "verdict", "p", "p, corrected", "family", "evidence", "source", "agreement")
NOTE = (
    "Holds or does not hold: the 95 % interval over seeds is entirely on that side, even after Holm’s "
    "correction for the claims of a family, so that at most one family in twenty has any false finding. "
    "Before correction only: by its own interval only. Undecided: neither; one seed decides nothing, because "
    "seeds differ more than test items. p is two-sided, from the interval’s test: Student’s t over seeds, "
    "for ρ the bootstrap; p, corrected is Holm’s. Family: its name, and the number of its claims with a p. "
    "Agreement: whether the verdict agrees with the paper that states the claim."
)


def verdicts(claims: Table, kind: str = "claims") -> str:
    """Count the rows in a table of claims, in total and by verdict."""
    counts = Counter(row[1] for row in claims.rows).most_common()
    by_verdict = "; ".join(f"{verdict}: {count}" for verdict, count in counts)
    return f"{len(claims.rows)} {kind} tested ({by_verdict})"


def claims_table(results: Results, claims: Sequence[Claim], title: str = HEADLINES) -> Table | None:
    """Tabulate claims and verdicts, corrected within families; claims with the same text share a row."""
    tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
    corrected = in_families((claim.family, claim.verdict) for claim in tested)
    pairs = groupby(zip(tested, corrected, strict=True), key=lambda pair: pair[0].text)
    rows = tuple(_row(list(comparisons)) for _, comparisons in pairs)
    shares = covered(results.redrawn)
    scope = "are about other draws of these too" if results.redrawn else "say nothing of other data"
    note = f"{NOTE} {shares[0].upper()}{shares[1:]}: verdicts {scope}."
    return Table(f"{title}, {results.scale}", HEADER, rows, note) if rows else None


def _row(comparisons: Sequence[tuple[Claim, Verdict]]) -> tuple[str, ...]:
    claim, cells, tested = comparisons[0][0], [], max(corrected.of for _, corrected in comparisons)
    verdict = min((corrected.verdict for _, corrected in comparisons), key=WEAKEST.index)
    for part, corrected in comparisons:
        word = f" ({corrected.verdict})" if len(comparisons) > 1 else ""
        cells.append((_p_value(part.verdict.p), _p_value(corrected.p), part.verdict.because + word))
    alone, adjusted, evidence = ("; ".join(parts) for parts in zip(*cells, strict=True))
    family = f"{claim.family} ({tested})" if tested else claim.family
    agreement = MISSING if claim.where.startswith("ours") else AGREEMENT.get(verdict, UNDECIDED)
    return claim.text, verdict, alone, adjusted, family, evidence, claim.where, agreement


def _p_value(p: float | None) -> str:
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
