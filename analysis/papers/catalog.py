"""The report of a study, by paper: findings, tables, claims, figures and terms."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from calque.analysis.papers.align_mlm.claims import align_mlm_claims
from calque.analysis.papers.align_mlm.dials import order_figure, overlap_figure
from calque.analysis.papers.align_mlm.figures import (
    correlation_figure,
    delta_figure,
    floor_figure,
    without_correlation,
)
from calque.analysis.papers.align_mlm.tables import align_mlm_tables
from calque.analysis.papers.equal_terms import (
    equal_terms_claims,
    equal_terms_findings,
    equal_terms_tables,
    objectives_figure,
)
from calque.analysis.papers.findings import transfer_findings
from calque.analysis.papers.growth.curves import growth_findings, growth_tables
from calque.analysis.papers.growth.figures import aligned_figure, onset_figure, predicted_figure
from calque.analysis.papers.texts import natural_terms, terms
from calque.analysis.papers.xlm_align.ablations import xlm_align_tables
from calque.analysis.papers.xlm_align.claims import xlm_align_claims, xlm_align_findings
from calque.analysis.papers.xlm_align.continued import Continued, continued_claims, continued_findings
from calque.analysis.papers.xlm_align.continued_tables import continued_tables
from calque.analysis.papers.xlm_align.figures import ablation_figure, error_figures, task_figure
from calque.analysis.papers.xlm_align.links import link_figure, link_findings, link_tables
from calque.analysis.report.claims_table import HEADLINES
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim

Figure = Callable[[Results, str], Plot | None]


@dataclass(frozen=True)
class PaperReport:
    """The specification of a report. Tables have the names of their files; figures that records cannot fill are None.
    `claims_title` is the title of the table of claims, and `published` names the papers whose numbers are shown next to
    ours. Figures `by_transform` have a panel or a line for each derived language, and are not drawn for too many;
    `not_drawn` says why others are missing. A terminal shows the claims, and the tables that `summary` chooses by name.
    """

    findings: Callable[[Results], Iterable[str]]
    tables: Callable[[Results, str], Iterable[tuple[str, Table]]]
    figures: Callable[[Results, str], Iterable[Plot | None]]
    claims: Callable[[Results], Iterable[Claim]] = lambda results: ()
    published: tuple[str, ...] = ()
    claims_title: str = HEADLINES
    terms: Callable[[Results], Iterable[tuple[str, str]]] = terms
    by_transform: bool = True
    not_drawn: Callable[[Results], Iterable[str]] = lambda results: ()
    summary: Callable[[Sequence[str]], Sequence[str]] = lambda tables: tables


def _figures(*figures: Figure) -> Callable[[Results, str], Iterable[Plot | None]]:
    return lambda results, scale: (draw(results, scale) for draw in figures)


def _continued_figures(results: Results, scale: str) -> Iterator[Plot | None]:
    study = Continued(results)
    yield task_figure(study, scale)
    yield from error_figures(study, scale)


def _continued_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    yield from continued_tables(Continued(results), scale)


def _continued_summary(tables: Sequence[str]) -> list[str]:
    """Means over tasks, gold sets and pairs of languages, or the only task."""
    means = ("xtreme", "aer", "retrieval")
    return [name for name in tables if name in means or ("xtreme" not in tables and name.startswith("task-"))]


SCORED = (floor_figure, correlation_figure)
PAPERS = {
    "align_mlm": PaperReport(
        transfer_findings,
        align_mlm_tables,
        _figures(order_figure, overlap_figure, delta_figure, *SCORED),
        align_mlm_claims,
        published=("align_mlm",),
        not_drawn=without_correlation,
    ),
    "xlm_align": PaperReport(
        xlm_align_findings,
        xlm_align_tables,
        _figures(ablation_figure, delta_figure, *SCORED),
        xlm_align_claims,
        published=("xlm_align",),
        not_drawn=without_correlation,
    ),
    "equal_terms": PaperReport(
        equal_terms_findings,
        equal_terms_tables,
        _figures(objectives_figure, *SCORED),
        equal_terms_claims,
        published=("align_mlm",),
        claims_title="Objectives on equal terms, claims tested",
        not_drawn=without_correlation,
    ),
    "growth": PaperReport(growth_findings, growth_tables, _figures(onset_figure, predicted_figure, aligned_figure)),
    "xtreme": PaperReport(
        lambda results: continued_findings(Continued(results)),
        _continued_tables,
        _continued_figures,
        lambda results: continued_claims(Continued(results)),
        published=("xlm_align", "minilm", "weam", "ppa", "awesome_align"),
        terms=natural_terms,
        by_transform=False,
        summary=_continued_summary,
    ),
    "links": PaperReport(
        link_findings,
        link_tables,
        _figures(link_figure),
        published=("xlm_align",),
        terms=natural_terms,
        by_transform=False,
        summary=lambda tables: ("table-2",),
    ),
}
