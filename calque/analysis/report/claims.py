"""Tabulate claims, and how often seeds with the same objective are found to differ, which should happen in
about 5 % of comparisons."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, islice, permutations
from pathlib import Path

from calque.analysis.records.record import (
    AER,
    AFTER,
    ALIGNMENT,
    ENTRY,
    HELD_OUT,
    LABELS,
    NO_ENTRY,
    RETRIEVAL,
    ROTATED,
    SELF_LEARNT,
    Record,
)
from calque.analysis.report.table import MISSING, Table, covered, listed, percent
from calque.analysis.results import BySeed, Results, difference, judge_difference
from calque.analysis.statistics import (
    CONFIDENCE,
    FAILS,
    HOLDS,
    NO_RECORDS,
    UNDECIDED,
    WEAKEST,
    Claim,
    Estimate,
    Verdict,
    estimate,
    in_families,
    per_item,
)
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.derive.files import read_toml

TEXTS = read_toml(Path(__file__).with_name("claims.toml"))
HEADER, NULL_HEADER = tuple(TEXTS["claims"]["header"]), tuple(TEXTS["null"]["header"])
HEADLINES = "The paper’s headlines, tested"
TESTED = PRIMARY_CLAIMS, CLAIMS, NULL = "primary-claims", "claims", "null"  # names of tables
AGREEMENT = {HOLDS: "agrees", FAILS: "disagrees"}  # how our verdict relates to the paper's claim


def verdicts(claims: Table, kind: str = "claim") -> str:
    """Return a sentence that counts the verdicts in a table of claims."""
    parts = []
    for verdict, count in Counter(row[1] for row in claims.rows).most_common():
        singular, plural = TEXTS["verdicts"].get(verdict, (f"is {verdict}", f"are {verdict}"))
        parts.append(f"{count} {singular if count == 1 else plural}")
    return f"Of {len(claims.rows)} {kind}{'' if len(claims.rows) == 1 else 's'} tested, {listed(parts)}."


def claims_table(results: Results, claims: Sequence[Claim], title: str = HEADLINES) -> Table | None:
    """Tabulate claims with their verdicts, corrected within families; None if no claim has records.
    Consecutive claims with the same text share a row."""
    tested = [claim for claim in claims if claim.verdict.because != NO_RECORDS]
    if not tested:
        return None
    corrected = in_families((claim.family, claim.verdict) for claim in tested)
    pairs = groupby(zip(tested, corrected, strict=True), key=lambda pair: pair[0].text)
    rows = tuple(_row(list(comparisons)) for _, comparisons in pairs)
    shares, text = covered(results.redrawn), TEXTS["claims"]
    note = f"{text['note']} {shares[0].upper()}{shares[1:]}: {text['other_data'][bool(results.redrawn)]}."
    return Table(f"{title}, {results.scale}", HEADER, rows, note)


def _row(comparisons: Sequence[tuple[Claim, Verdict]]) -> tuple[str, ...]:
    claim, tested = comparisons[0][0], max(corrected.of for _, corrected in comparisons)
    verdict = min((corrected.verdict for _, corrected in comparisons), key=WEAKEST.index)
    cells = []
    for part, corrected in comparisons:
        word = f" ({corrected.verdict})" if len(comparisons) > 1 else ""
        cells.append((_written(part.verdict.p), _written(corrected.p), part.verdict.because + word))
    alone, adjusted, evidence = ("; ".join(parts) for parts in zip(*cells, strict=True))
    family = f"{claim.family} ({tested})" if tested else claim.family
    agreement = MISSING if claim.where.startswith("ours") else AGREEMENT.get(verdict, UNDECIDED)
    return claim.text, verdict, alone, adjusted, family, evidence, claim.where, agreement


def _written(p: float | None) -> str:
    """Format a p-value."""
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


# Comparisons of seeds with the same objective

NOMINAL = 1 - CONFIDENCE
WIDEST = 4 * NOMINAL  # intervals that extend above this do not confirm the nominal rate
MOST = 60  # maximum number of ways to split a number's seeds
DECIDES = 4  # minimum number of seeds for checking verdicts, in two groups of two
MEASURES = ("SUP", "ZS", "DELTA", ALIGNMENT, LABELS, AER, RETRIEVAL, HELD_OUT)
"""The measures that claims are about."""
METRICS = {ALIGNMENT: ("all", "held-out", ROTATED, SELF_LEARNT), LABELS: ("precision",)}
"""The metrics that claims are about; for measures not listed here, all metrics."""
EVERYTHING = "all measures"
Split = tuple[tuple[int, int], ...]  # pairs with one seed from each group


def splits(seeds: Sequence[int], size: int, most: int) -> list[Split]:
    """All ways to choose and pair two groups of `size` seeds, or a fixed random sample of `most`."""
    pairings = list(islice(_all_splits(sorted(seeds), size), most + 1))
    if len(pairings) <= most:
        return pairings
    rng, sampled = random.Random(f"splits of {len(seeds)} by {size}"), set[Split]()
    while len(sampled) < most:
        chosen = rng.sample(sorted(seeds), 2 * size)
        groups = sorted((chosen[:size], chosen[size:]), key=min)
        sampled.add(tuple(sorted(zip(*groups, strict=True))))
    return sorted(sampled)


def _all_splits(seeds: Sequence[int], size: int) -> Iterator[Split]:
    for first in combinations(seeds, size):
        remaining_seeds = [seed for seed in seeds if seed not in first]
        for second in permutations(remaining_seeds, size):
            if first[0] < min(second):
                yield tuple(zip(first, second, strict=True))


@dataclass(frozen=True)
class Rate:
    """How often two groups of `seeds` seeds with the same objective differ, judged by intervals over test
    items for single seeds and by verdicts otherwise. The interval of `share` is over cells (Cochran 1977,
    section 6.4), whose comparisons share seeds."""

    measure: str
    seeds: int
    different: int
    comparisons: int
    cells: int
    share: Estimate

    @property
    def over(self) -> str:
        """What the groups' intervals are over."""
        return "items" if self.seeds == 1 else "seeds"

    @property
    def against_nominal(self) -> str:
        """How the interval compares with the nominal rate; "" if there is no interval."""
        if self.share.interval is None:
            return ""
        low, high = self.share.interval
        if low <= NOMINAL <= high:
            return "as nominal" if high <= WIDEST else "unclear"
        return "too often" if low > NOMINAL else "too seldom"


def null_rates(*variants: Results) -> list[Rate]:
    """Return the rates for each group size, first over all measures, then by measure."""
    tallies: dict[tuple[int, str], dict[object, list[bool]]] = {}
    for cell, record, values in _columns(variants):
        for size in range(1, len(values) // 2 + 1) if in_claims(record) else ():
            differ = list(_judge_splits(values, size))
            for measure in (EVERYTHING, _title(record)) if differ else ():
                tallies.setdefault((size, measure), {}).setdefault(cell, []).extend(differ)
    by_size = sorted(tallies.items(), key=lambda tally: tally[0][0])
    return [_rate(measure, size, list(by_cell.values())) for (size, measure), by_cell in by_size]


def _columns(variants: Sequence[Results]) -> Iterator[tuple[object, Record, BySeed]]:
    """Yield each distinct column once, with its cell: an objective and its languages."""
    seen = set()
    for results in variants:
        for record, values in results.columns():
            languages = (language.name for language in results.runs[record.run].languages)
            cell = results.objective_of(record), *languages
            numbers = tuple((seed, score.value) for seed, score in values.items())
            column = cell, replace(record, run=""), numbers
            if column not in seen:
                seen.add(column)
                yield cell, record, values


def _rate(measure: str, seeds: int, cells: Sequence[Sequence[bool]]) -> Rate:
    """Return the share of different groups, with its interval over cells."""
    different, comparisons = list(map(sum, cells)), list(map(len, cells))
    by_cell = sum(different) / sum(comparisons) + per_item(different, comparisons)
    return Rate(
        measure,
        seeds,
        sum(different),
        sum(comparisons),
        len(comparisons),
        estimate(by_cell.tolist(), (0.0, 1.0)),
    )


def _judge_splits(values: BySeed, size: int) -> Iterator[bool]:
    """Yield whether the two groups of each split differ."""
    for split in splits(list(values), size, MOST):
        first, second = ({k: values[pair[side]] for k, pair in enumerate(split)} for side in (0, 1))
        if size > 1:
            yield judge_difference(first, second).verdict in (HOLDS, FAILS)
        elif (gap := difference(first, second)) and gap.interval:
            yield gap.interval[0] > 0 or gap.interval[1] < 0


def in_claims(record: Record) -> bool:
    """Whether claims can be about a record's measure and metric."""
    if record.measure not in MEASURES:
        return False
    if record.task in PRIMARY:
        if record.metric in (ENTRY, NO_ENTRY):
            return record.measure == "ZS"
        return record.metric.partition(AFTER)[0] == PRIMARY[record.task]
    return record.metric in METRICS.get(record.measure, (record.metric,))


def _title(record: Record) -> str:
    measure = {"DELTA": "Δ", ALIGNMENT: "alignment@1"}.get(record.measure, record.measure)
    if record.task:
        return f"{measure}, {task_title(record.task)} ({metric_title(record.metric)})"
    return f"{measure}, {record.metric}" if record.measure in (ALIGNMENT, RETRIEVAL, LABELS) else measure


def null_table(results: Results, scale: str, *variants: Results) -> Table | None:
    """Tabulate how often seeds with the same objective are found to differ, by measure."""
    rates = null_rates(results, *variants)
    if not rates:
        return None
    rows = []
    for rate in rates:
        labels = rate.measure, str(rate.seeds), TEXTS["null"]["over"][rate.over]
        numbers = f"{rate.different:,} of {rate.comparisons:,}", str(rate.cells), _percent(rate.share)
        rows.append((*labels, *numbers, rate.against_nominal or MISSING))
    about = TEXTS["null"]["note"].format(nominal=percent(NOMINAL), widest=percent(WIDEST))
    note = " ".join([*_null_sentences(rates), about])
    return Table(f"Seeds of one objective treated as two, {scale}", NULL_HEADER, tuple(rows), note)


def _null_sentences(rates: list[Rate]) -> list[str]:
    """Return the sentences that summarise the rates over all measures."""
    sentences = []
    for rate in (rate for rate in rates if rate.measure == EVERYTHING):
        number = f"{rate.different:,} of {rate.comparisons:,} comparisons ({_percent(rate.share)} %)."
        alone = "By test items alone, two seeds of one objective are called different in "
        over = f"By verdicts over {rate.seeds} seeds each, "
        sentences.append((alone if rate.over == "items" else over) + number)
    if len(sentences) < 2:
        sentences.append(f"Verdicts over seeds are not checked: that takes {DECIDES} seeds, two per side.")
    return sentences


def _percent(share: Estimate) -> str:
    interval = "" if share.interval is None else " [{}, {}]".format(*map(percent, share.interval))
    return percent(share.mean) + interval
