"""Define the kinds of reports: their findings, tables, figures and claims."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from calque.analysis.papers.align_mlm.claims import align_mlm_claims, transfer_findings
from calque.analysis.papers.align_mlm.dials import order_figure, overlap_figure
from calque.analysis.papers.align_mlm.figures import correlation_figure, delta_figure, floor_figure
from calque.analysis.papers.align_mlm.tables import align_mlm_tables
from calque.analysis.papers.equal_terms import (
    equal_terms_claims,
    equal_terms_findings,
    equal_terms_tables,
    objectives_figure,
)
from calque.analysis.papers.growth import (
    aligned_figure,
    growth_findings,
    growth_tables,
    onset_figure,
    predicted_figure,
)
from calque.analysis.papers.xlm_align.ablations import (
    ablation_figure,
    xlm_align_claims,
    xlm_align_findings,
    xlm_align_tables,
)
from calque.analysis.papers.xlm_align.continued import continued_claims, continued_findings, continued_tables
from calque.analysis.papers.xlm_align.continued_figures import continued_figures
from calque.analysis.papers.xlm_align.links import link_figure, link_findings, link_tables
from calque.analysis.report.claims_table import HEADLINES
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim


@dataclass(frozen=True)
class PaperReport:
    """The functions and published numbers that a report consists of. `tables` returns tables by file name, or
    None for a table that has no records; `figures` yields None for a figure that has none, or that would show
    too many objectives or languages to distinguish."""

    findings: Callable[[Results], Iterable[str]]
    tables: Callable[[Results], Mapping[str, Table | None]]
    figures: Callable[[Results], Iterable[Plot | None]]
    claims: Callable[[Results], Iterable[Claim]] = lambda results: ()
    published: tuple[str, ...] = ()
    claims_title: str = HEADLINES
    natural: bool = False
    shown: tuple[str, ...] = ()


def _figures(
    *figures: Callable[[Results], Plot | None],
) -> Callable[[Results], Iterable[Plot | None]]:
    return lambda results: (draw(results) for draw in figures)


PAPERS = {
    "align_mlm": PaperReport(
        transfer_findings,
        align_mlm_tables,
        _figures(order_figure, overlap_figure, delta_figure, floor_figure, correlation_figure),
        align_mlm_claims,
        published=("align_mlm",),
    ),
    "xlm_align": PaperReport(
        xlm_align_findings,
        xlm_align_tables,
        _figures(ablation_figure, delta_figure, floor_figure, correlation_figure),
        xlm_align_claims,
        published=("xlm_align",),
    ),
    "equal_terms": PaperReport(
        equal_terms_findings,
        equal_terms_tables,
        _figures(objectives_figure, floor_figure, correlation_figure),
        equal_terms_claims,
        published=("align_mlm",),
        claims_title="Objectives on equal terms, claims tested",
    ),
    "growth": PaperReport(
        growth_findings, growth_tables, _figures(onset_figure, predicted_figure, aligned_figure)
    ),
    "xtreme": PaperReport(
        continued_findings,
        continued_tables,
        continued_figures,
        continued_claims,
        published=("xlm_align", "minilm", "weam", "ppa", "awesome_align"),
        natural=True,
        shown=("xtreme", "aer", "retrieval"),
    ),
    "links": PaperReport(
        link_findings,
        link_tables,
        _figures(link_figure),
        published=("xlm_align",),
        natural=True,
        shown=("table-2",),
    ),
}
