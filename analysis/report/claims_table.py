"""Claims and the null as tables and in words."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from calque.analysis.report.table import MISSING, Table, covered, listed, percent
from calque.analysis.results.null import DECIDES, NOMINAL, WIDEST, Rate, null_rates, pooled
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.statistics.verdicts import NO_RECORDS, Claim, in_families
from calque.derive.files import read_toml

TEXTS = read_toml(Path(__file__).with_name("claims.toml"))
HEADER, NULL_HEADER = tuple(TEXTS["claims"]["header"]), tuple(TEXTS["null"]["header"])
HEADLINES = "The paper’s headlines, tested"


def verdicts(claims: Table) -> str:
    """A sentence that counts the verdicts, the second column of a table of claims."""
    counts = Counter(row[1] for row in claims.rows)
    parts = []
    for verdict, count in counts.most_common():
        one, several = TEXTS["verdicts"].get(verdict, (f"is {verdict}", f"are {verdict}"))
        parts.append(f"{count} {one if count == 1 else several}")
    return f"Of {len(claims.rows)} {'claim' if len(claims.rows) == 1 else 'claims'} tested, {listed(parts)}."


def claims_table(results: Results, claims: Sequence[Claim], scale: str, title: str = HEADLINES) -> Table | None:
    """Each claim with its verdict after correction for its family, the number that it rests on, and its source. Claims
    without records are left out; None if all are."""
    tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
    if not tested:
        return None
    rows = []
    for claim, corrected in zip(tested, in_families((claim.family, claim.verdict) for claim in tested), strict=True):
        family = f"{claim.family} ({corrected.of})" if corrected.of else claim.family
        ps = written(claim.verdict.p), written(corrected.p)
        rows.append((claim.text, corrected.verdict, *ps, family, claim.verdict.because, claim.where))
    shares = covered(results.redrawn)
    other = TEXTS["claims"]["other_data"][bool(results.redrawn)]
    note = f"{TEXTS['claims']['note']} {shares[0].upper()}{shares[1:]}: {other}."
    return Table(f"{title}, {scale}", HEADER, tuple(rows), note, results.run_ids())


def written(p: float | None) -> str:
    """A p to two digits, or "< 0.0001"."""
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def null_table(results: Results, scale: str, *variants: Results) -> Table | None:
    """How often seeds of one objective are called different, by measure; None if no cell has two seeds. A sweep has
    further `variants`."""
    rates = null_rates(results, *variants)
    if not rates:
        return None
    rows = []
    for rate in rates:
        over = TEXTS["null"]["over"][rate.over]
        called = f"{rate.different:,} of {rate.comparisons:,}", str(rate.cells), _percent(rate.share)
        rows.append((rate.measure, str(rate.seeds), over, *called, rate.against_nominal or MISSING))
    about = TEXTS["null"]["note"].format(nominal=percent(NOMINAL), widest=percent(WIDEST))
    note = " ".join([*null_sentences(rates), about])
    runs = tuple(run for each in (results, *variants) for run in each.run_ids())
    return Table(f"Seeds of one objective treated as two, {scale}", NULL_HEADER, tuple(rows), note, runs)


def null_sentences(rates: list[Rate]) -> list[str]:
    """How often one seed's test items, and verdicts over seeds, call seeds of one objective different."""
    sentences = []
    for size, rate in sorted(pooled(rates).items()):
        of = f"{rate.different:,} of {rate.comparisons:,} comparisons ({_percent(rate.share)} %)"
        alone = f"By test items alone, two seeds of one objective are called different in {of}."
        sentences.append(alone if rate.over == "items" else f"By verdicts over {size} seeds each, {of}.")
    if len(sentences) < 2:
        sentences.append(f"Verdicts over seeds are not checked: that takes {DECIDES} seeds, two per side.")
    return sentences


def _percent(share: Estimate) -> str:
    interval = "" if share.interval is None else " [{}, {}]".format(*map(percent, share.interval))
    return percent(share.mean) + interval
