"""What a study's report shows, by the paper that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analysis.papers.align_mlm.claims import align_mlm_claims
from analysis.papers.align_mlm.correlation_figure import correlation_figure
from analysis.papers.align_mlm.delta_figure import delta_figure
from analysis.papers.align_mlm.diagnostics_table import diagnostics_tables
from analysis.papers.align_mlm.findings import align_mlm_findings
from analysis.papers.align_mlm.floor_figure import floor_figure
from analysis.papers.align_mlm.growth_figure import growth_figure
from analysis.papers.align_mlm.order_figure import order_figure
from analysis.papers.align_mlm.overlap_figure import overlap_figure
from analysis.papers.align_mlm.overlap_tables import overlap_tables
from analysis.papers.align_mlm.tables import alignment_table, scores_table
from analysis.papers.equal_terms.claims import equal_terms_claims
from analysis.papers.equal_terms.figure import objectives_figure
from analysis.papers.equal_terms.findings import equal_terms_findings
from analysis.papers.equal_terms.tables import equal_terms_tables
from analysis.papers.growth.curve_figures import aligned_figure, predicted_figure
from analysis.papers.growth.findings import growth_findings
from analysis.papers.growth.onset_figure import onset_figure
from analysis.papers.growth.tables import growth_tables
from analysis.papers.knowledge.figure import knowledge_figure
from analysis.papers.knowledge.table import knowledge_table
from analysis.papers.language_imbalance.claims import imbalance_claims
from analysis.papers.language_imbalance.curve_figure import curve_figure
from analysis.papers.language_imbalance.figure import imbalance_figure
from analysis.papers.language_imbalance.findings import imbalance_findings
from analysis.papers.language_imbalance.tables import imbalance_tables
from analysis.papers.ppa.translate_table import translate_table
from analysis.papers.xlm_align.ablation_figure import ablation_figure
from analysis.papers.xlm_align.claims import xlm_align_claims
from analysis.papers.xlm_align.contextual_figure import contextual_figure
from analysis.papers.xlm_align.findings import xlm_align_findings
from analysis.papers.xlm_align.label_figure import label_figure
from analysis.papers.xlm_align.tables import xlm_align_tables
from analysis.records.record import Published
from analysis.report.claims_table import HEADLINES
from analysis.report.plot import Plot
from analysis.report.table import Table
from analysis.results.claim import Claim
from analysis.results.results import Results
from experiments.published import published

Figure = Callable[[Results, str], Plot | None]


@dataclass(frozen=True)
class Reporting:
    """The findings, the tables by the names of their files, the claims and the figures.

    Figures that records cannot fill are None. `claimed` is what the table of claims is called, and `printed` the paper
    whose numbers stand beside ours, where it is not that of the same name.
    """

    findings: Callable[[Results], Iterable[str]]

    tables: Callable[[Results, str], Iterable[tuple[str, Table]]]
    claims: Callable[[Results], list[Claim]]
    figures: tuple[Figure, ...]
    claimed: str = HEADLINES
    printed: str = ""


def _align_mlm_tables(results: Results, scale: str) -> Iterable[tuple[str, Table]]:
    yield "table-3", scores_table(results, scale)
    yield "table-8", alignment_table(results, scale)
    yield from diagnostics_tables(results, scale)
    if facts := knowledge_table(results, scale):
        yield "knowledge", facts
    yield from overlap_tables(results, scale)
    yield from _translated(results, scale)


def _equal_terms_tables(results: Results, scale: str) -> Iterable[tuple[str, Table]]:
    yield from equal_terms_tables(results, scale)
    yield from _translated(results, scale)


def _translated(results: Results, scale: str) -> Iterable[tuple[str, Table]]:
    if table := translate_table(results, scale):
        yield "translate-train", table


PAPERS = {
    "align_mlm": Reporting(
        align_mlm_findings,
        _align_mlm_tables,
        align_mlm_claims,
        (
            order_figure,
            overlap_figure,
            delta_figure,
            floor_figure,
            correlation_figure,
            growth_figure,
            knowledge_figure,
        ),
    ),
    "xlm_align": Reporting(
        xlm_align_findings,
        xlm_align_tables,
        xlm_align_claims,
        (
            label_figure,
            contextual_figure,
            ablation_figure,
            delta_figure,
            floor_figure,
            correlation_figure,
            growth_figure,
        ),
    ),
    "equal_terms": Reporting(
        equal_terms_findings,
        _equal_terms_tables,
        equal_terms_claims,
        (objectives_figure, floor_figure, correlation_figure, growth_figure),
        "Objectives on equal terms, claims tested",
        "align_mlm",
    ),
    "growth": Reporting(
        growth_findings, growth_tables, lambda results: [], (onset_figure, predicted_figure, aligned_figure)
    ),
    "language_imbalance": Reporting(
        imbalance_findings, imbalance_tables, imbalance_claims, (imbalance_figure, curve_figure)
    ),
}


def published_beside(paper: str) -> list[Published]:
    """The numbers that stand beside ours in a report about a paper."""
    return published(PAPERS[paper].printed or paper)
