"""Claims and the null as tables and in words."""

from collections import Counter
from collections.abc import Sequence

from analysis.report.table import MISSING, Table, covered, listed, percent
from analysis.results.null import DECIDES, NOMINAL, Rate, null_rates, pooled
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate
from analysis.statistics.verdicts import FAILS, FAILS_ALONE, HOLDS, HOLDS_ALONE, NO_RECORDS, Claim, in_families

WORDS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    HOLDS_ALONE: ("holds alone but not after correction", "hold alone but not after correction"),
    FAILS_ALONE: ("fails alone but not after correction", "fail alone but not after correction"),
}
"""Of one claim, and of several."""
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
OVER = {"items": "test items", "seeds": "seeds"}
NULL_HEADER = ("measure", "seeds of each", "told apart by", "called different", "cells", "rate, %", "beside 5 %")
NULL_NOTE = (
    "Seeds of one objective on the same languages are treated as two objectives. They do not differ, so a test that "
    f"keeps its word calls {percent(NOMINAL)} % of them different. Told apart by test items: one seed against another, "
    "by the interval that a study of one seed would have; no claim is decided by it. By seeds: as claims are decided, "
    "each half of the seeds against the other half. A cell is one objective on the same languages; the interval "
    "of the rate is Student’s t over cells, since comparisons within a cell share seeds."
)


def verdicts(claims: Table) -> str:
    """A sentence that counts the verdicts, the second column of a table of claims."""
    counts = Counter(row[1] for row in claims.rows)
    parts = []
    for verdict, count in counts.most_common():
        one, several = WORDS.get(verdict, (f"is {verdict}", f"are {verdict}"))
        parts.append(f"{count} {one if count == 1 else several}")
    return f"Of {len(claims.rows)} {'claim' if len(claims.rows) == 1 else 'claims'} tested, {listed(parts)}."


def claims_table(results: Results, claims: Sequence[Claim], scale: str, title: str = HEADLINES) -> Table | None:
    """Each claim with its verdict after correction for its family, the number that it rests on, and its source.

    Claims without records are left out; None if all are.
    """
    tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
    if not tested:
        return None
    rows = []
    for claim, corrected in zip(tested, in_families((one.family, one.verdict) for one in tested), strict=True):
        family = f"{claim.family} ({corrected.of})" if corrected.of else claim.family
        ps = written(claim.verdict.p), written(corrected.p)
        rows.append((claim.text, corrected.verdict, *ps, family, claim.verdict.because, claim.where))
    shares = covered(results.redrawn)
    note = f"{NOTE} {shares[0].upper()}{shares[1:]}: {OTHER_DATA[bool(results.redrawn)]}."
    return Table(f"{title}, {scale}", HEADER, tuple(rows), note, results.run_ids())


def written(p: float | None) -> str:
    """A p to two digits, or that it is below a ten-thousandth."""
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def null_table(results: Results, scale: str) -> Table | None:
    """How often seeds of one objective are called different, by measure; None where no cell has two seeds."""
    rates = null_rates(results)
    if not rates:
        return None
    rows = []
    for rate in rates:
        called = f"{rate.different:,} of {rate.comparisons:,}", str(rate.cells), _percent(rate.share)
        rows.append((rate.measure, str(rate.seeds), OVER[rate.over], *called, rate.against_nominal or MISSING))
    note = " ".join([*null_sentences(rates), NULL_NOTE])
    return Table(f"Seeds of one objective treated as two, {scale}", NULL_HEADER, tuple(rows), note, results.run_ids())


def null_sentences(rates: list[Rate]) -> list[str]:
    """How often one seed's test items, and verdicts over seeds, call seeds of one objective different."""
    sentences = []
    for size, rate in sorted(pooled(rates).items()):
        of = f"{rate.different:,} of {rate.comparisons:,} comparisons ({_percent(rate.share)} %)"
        alone = f"Told apart by test items alone, two seeds of one objective are called different in {of}."
        sentences.append(alone if rate.over == "items" else f"By verdicts over {size} seeds each they are in {of}.")
    if len(sentences) < 2:
        sentences.append(f"Verdicts over seeds are not checked: that takes {DECIDES} seeds, two of each.")
    return sentences


def _percent(share: Estimate) -> str:
    interval = "" if share.interval is None else " [{}, {}]".format(*map(percent, share.interval))
    return percent(share.mean) + interval
