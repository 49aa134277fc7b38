"""The null as a table and a sentence: how often two groups of seeds of one objective are called different."""

from __future__ import annotations

from analysis.report.table import MISSING, Table, percent
from analysis.results.null import DECIDES, NOMINAL, Rate, null_rates, pooled
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate

TOLD_BY = {"items": "test items", "seeds": "seeds"}
NOTE = (
    "Seeds of one objective on the same languages are treated as two objectives. They do not differ, so a test that "
    f"keeps its word calls {percent(NOMINAL)} % of them different. Told apart by test items: one seed against another, "
    "by the interval that a study of one seed would have; no claim is decided by it. By seeds: as claims are decided, "
    "each half of the seeds against the other half. A cell is one objective on the same languages; the interval "
    "of the rate is Student’s t over cells, since comparisons within a cell share seeds."
)


def null_table(results: Results, scale: str) -> Table | None:
    """The rate by measure and number of seeds; None where no cell has two seeds."""
    rates = null_rates(results)
    if not rates:
        return None
    return Table(
        f"Seeds of one objective treated as two, {scale}",
        ("measure", "seeds of each", "told apart by", "called different", "cells", "rate, %", "beside 5 %"),
        tuple(_row(rate) for rate in rates),
        " ".join([*null_sentences(rates), NOTE]),
        runs=results.run_ids(),
    )


def null_sentences(rates: list[Rate]) -> list[str]:
    """What one seed would have said, and how often verdicts over seeds err, in a sentence each."""
    said = []
    for size, rate in sorted(pooled(rates).items()):
        of = f"{rate.different:,} of {rate.comparisons:,} comparisons ({_percent(rate.share)} %)"
        if rate.over == "items":
            said.append(f"Told apart by test items alone, two seeds of one objective are called different in {of}.")
        else:
            said.append(f"By verdicts over {size} seeds each they are in {of}.")
    if len(said) < 2:
        said.append(f"Verdicts over seeds are not checked: that takes {DECIDES} seeds, two of each.")
    return said


def _row(rate: Rate) -> tuple[str, ...]:
    return (
        rate.measure,
        str(rate.seeds),
        TOLD_BY[rate.over],
        f"{rate.different:,} of {rate.comparisons:,}",
        str(rate.cells),
        _percent(rate.share),
        rate.against_nominal or MISSING,
    )


def _percent(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return percent(share.mean)
    return f"{percent(share.mean)} [{percent(share.low)}, {percent(share.high)}]"
