"""Tabulate claims, and how often seeds with the same objective are found to differ."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from calque.analysis.report.table import MISSING, Table, covered, listed, percent
from calque.analysis.results.null import DECIDES, NOMINAL, WIDEST, Rate, null_rates, pooled
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate
from calque.analysis.statistics.verdicts import (
    FAILS,
    HOLDS,
    NO_RECORDS,
    UNDECIDED,
    WEAKEST,
    Claim,
    Corrected,
    in_families,
)
from calque.derive.files import read_toml

TEXTS = read_toml(Path(__file__).with_name("claims.toml"))
HEADER, NULL_HEADER = tuple(TEXTS["claims"]["header"]), tuple(TEXTS["null"]["header"])
HEADLINES = "The paper’s headlines, tested"
AGREEMENT = {HOLDS: "agrees", FAILS: "disagrees"}  # how our verdict relates to the paper's claim


def verdicts(claims: Table, kind: str = "claim") -> str:
    """Return a sentence that counts the verdicts in a table of claims."""
    counts = Counter(row[1] for row in claims.rows)
    parts = []
    for verdict, count in counts.most_common():
        one, several = TEXTS["verdicts"].get(verdict, (f"is {verdict}", f"are {verdict}"))
        parts.append(f"{count} {one if count == 1 else several}")
    return f"Of {len(claims.rows)} {kind}{'' if len(claims.rows) == 1 else 's'} tested, {listed(parts)}."


def claims_table(
    results: Results, claims: Sequence[Claim], scale: str, title: str = HEADLINES
) -> Table | None:
    """Tabulate claims with their verdicts, corrected within families; None if no claim has records.
    Consecutive claims with the same text share a row."""
    tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
    if not tested:
        return None
    corrected = in_families((claim.family, claim.verdict) for claim in tested)
    pairs = groupby(zip(tested, corrected, strict=True), key=lambda pair: pair[0].text)
    rows = tuple(_row(list(comparisons)) for _, comparisons in pairs)
    shares = covered(results.redrawn)
    other = TEXTS["claims"]["other_data"][bool(results.redrawn)]
    note = f"{TEXTS['claims']['note']} {shares[0].upper()}{shares[1:]}: {other}."
    return Table(f"{title}, {scale}", HEADER, rows, note)


def _row(comparisons: Sequence[tuple[Claim, Corrected]]) -> tuple[str, ...]:
    claim, tested = comparisons[0][0], max(corrected.of for _, corrected in comparisons)
    verdict = min((corrected.verdict for _, corrected in comparisons), key=WEAKEST.index)
    cells = []
    for one, corrected in comparisons:
        own = f" ({corrected.verdict})" if len(comparisons) > 1 else ""
        cells.append((_written(one.verdict.p), _written(corrected.p), one.verdict.because + own))
    alone, adjusted, evidence = ("; ".join(parts) for parts in zip(*cells, strict=True))
    family = f"{claim.family} ({tested})" if tested else claim.family
    agreement = MISSING if claim.where.startswith("ours") else AGREEMENT.get(verdict, UNDECIDED)
    return claim.text, verdict, alone, adjusted, family, evidence, claim.where, agreement


def _written(p: float | None) -> str:
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def null_table(results: Results, scale: str, *variants: Results) -> Table | None:
    """Tabulate how often seeds with the same objective are found to differ, by measure."""
    rates = null_rates(results, *variants)
    if not rates:
        return None
    rows = []
    for rate in rates:
        over = TEXTS["null"]["over"][rate.over]
        called = f"{rate.different:,} of {rate.comparisons:,}", str(rate.cells), _percent(rate.share)
        rows.append((rate.measure, str(rate.seeds), over, *called, rate.against_nominal or MISSING))
    about = TEXTS["null"]["note"].format(nominal=percent(NOMINAL), widest=percent(WIDEST))
    note = " ".join([*_null_sentences(rates), about])
    return Table(f"Seeds of one objective treated as two, {scale}", NULL_HEADER, tuple(rows), note)


def _null_sentences(rates: list[Rate]) -> list[str]:
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
