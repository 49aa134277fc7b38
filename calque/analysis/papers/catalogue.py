"""The kinds of reports: their tables, figures and claims."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from calque.analysis.papers import align_mlm, continued, figures
from calque.analysis.report.claims import HEADLINES
from calque.analysis.report.drawing import Plot
from calque.analysis.report.table import Table
from calque.analysis.results import Results
from calque.analysis.verdicts import Claim


@dataclass(frozen=True)
class PaperReport:
    """The functions and published numbers of a report; a table or figure that cannot be made is None."""

    tables: Callable[[Results], Mapping[str, Table | None]]
    figures: Callable[[Results], Iterable[Plot | None]]
    claims: Callable[[Results], Iterable[Claim]] = lambda results: ()
    published: tuple[str, ...] = ()
    claims_title: str = HEADLINES


EQUAL_TERMS = "Objectives on equal terms, claims tested"
PAPERS = {
    "align_mlm": PaperReport(
        lambda results: align_mlm.align_mlm_tables(results) | {"overlap": figures.overlap_table(results)},
        figures.paper_figures,
        align_mlm.align_mlm_claims,
        published=("align_mlm",),
    ),
    "xlm_align": PaperReport(
        align_mlm.xlm_align_tables,
        figures.paper_figures,
        align_mlm.equal_terms_claims,
        claims_title=EQUAL_TERMS,
    ),
    "equal_terms": PaperReport(
        align_mlm.equal_terms_tables,
        figures.equal_terms_figures,
        align_mlm.equal_terms_claims,
        published=("align_mlm",),
        claims_title=EQUAL_TERMS,
    ),
    "xtreme": PaperReport(
        continued.continued_tables,
        continued.continued_figures,
        continued.continued_claims,
        claims_title="Claims about each model and the start, tested",
    ),
}
