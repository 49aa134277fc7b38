"""The report of a study by the paper that it is about: findings, tables, claims, figures and terms."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from analysis.papers.align_mlm.claims import align_mlm_claims, align_mlm_findings
from analysis.papers.align_mlm.figures import correlation_figure, delta_figure, floor_figure, growth_figure
from analysis.papers.align_mlm.order_figure import order_figure
from analysis.papers.align_mlm.overlap import overlap_figure
from analysis.papers.align_mlm.tables import align_mlm_tables
from analysis.papers.equal_terms import equal_terms_claims, equal_terms_findings, equal_terms_tables, objectives_figure
from analysis.papers.growth.curves import growth_findings, growth_tables
from analysis.papers.growth.figures import aligned_figure, onset_figure, predicted_figure
from analysis.papers.knowledge import knowledge_figure
from analysis.papers.language_imbalance.figures import curve_figure, imbalance_figure
from analysis.papers.language_imbalance.tables import imbalance_claims, imbalance_findings, imbalance_tables
from analysis.papers.minilm import curve_tables, examples_figure
from analysis.papers.texts import NATURAL, terms
from analysis.papers.xlm_align.ablations import xlm_align_tables
from analysis.papers.xlm_align.claims import xlm_align_claims, xlm_align_findings
from analysis.papers.xlm_align.continued import Continued, continued_claims, continued_findings
from analysis.papers.xlm_align.continued_figures import error_figures, task_figure
from analysis.papers.xlm_align.continued_tables import continued_tables, tables_by_language
from analysis.papers.xlm_align.figures import ablation_figure, contextual_figure, label_figure
from analysis.papers.xlm_align.links import link_figure, link_findings, link_tables
from analysis.report.claims_table import HEADLINES
from analysis.report.plot import Plot
from analysis.report.table import Table
from analysis.results.results import Results
from analysis.statistics.verdicts import Claim

Figure = Callable[[Results, str], Plot | None]
NONE: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class PaperReport:
    """The specification of a report.

    Tables are under the names of their files; figures that records cannot fill are None. `claims_title` is the title of
    the table of claims, and `published` names the papers whose numbers are shown next to ours, with the table where one
    is enough. `by_transform` says that figures have a panel or a line for each derived language, so that they are not
    drawn of too many. A terminal shows the claims, and of the tables those that `summary` chooses by name.
    """

    findings: Callable[[Results], Iterable[str]]
    tables: Callable[[Results, str], Iterable[tuple[str, Table]]]
    figures: Callable[[Results, str], Iterable[Plot | None]]
    claims: Callable[[Results], Iterable[Claim]] = lambda results: NONE
    published: tuple[str, ...] = ()
    published_table: int | None = None
    claims_title: str = HEADLINES
    terms: Callable[[Results], Iterable[tuple[str, str]]] = terms
    by_transform: bool = True
    summary: Callable[[Sequence[str]], Sequence[str]] = lambda tables: tables


def _figures(*figures: Figure) -> Callable[[Results, str], Iterable[Plot | None]]:
    return lambda results, scale: (draw(results, scale) for draw in figures)


def _continued_figures(results: Results, scale: str) -> Iterator[Plot | None]:
    study = Continued(results)
    yield task_figure(study, scale)
    yield examples_figure(study, scale)
    yield from error_figures(study, scale)


def _continued_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    study = Continued(results)
    yield from continued_tables(study, scale)
    yield from curve_tables(study, scale)
    yield from tables_by_language(study, scale)


def _continued_terms(results: Results) -> Iterator[tuple[str, str]]:
    study = Continued(results)
    names = ("links", "ways", "objectives") if study.sets else ()
    for name in (*names, *["start"] * bool(study.learnt), *["retrieval"] * bool(study.pairs)):
        yield NATURAL[name]
    if study.tasks:
        yield NATURAL["zero-shot"]


def _continued_summary(tables: Sequence[str]) -> list[str]:
    """Means over tasks, gold sets and pairs of languages, or the only task."""
    means = ("xtreme", "aer", "retrieval")
    return [name for name in tables if name in means or ("xtreme" not in tables and name.startswith("task-"))]


PAPERS = {
    "align_mlm": PaperReport(
        align_mlm_findings,
        align_mlm_tables,
        _figures(
            order_figure,
            overlap_figure,
            delta_figure,
            floor_figure,
            correlation_figure,
            growth_figure,
            knowledge_figure,
        ),
        align_mlm_claims,
        ("align_mlm",),
    ),
    "xlm_align": PaperReport(
        xlm_align_findings,
        xlm_align_tables,
        _figures(
            label_figure,
            contextual_figure,
            ablation_figure,
            delta_figure,
            floor_figure,
            correlation_figure,
            growth_figure,
        ),
        xlm_align_claims,
        ("xlm_align",),
    ),
    "equal_terms": PaperReport(
        equal_terms_findings,
        equal_terms_tables,
        _figures(objectives_figure, floor_figure, correlation_figure, growth_figure),
        equal_terms_claims,
        ("align_mlm",),
        claims_title="Objectives on equal terms, claims tested",
    ),
    "growth": PaperReport(
        growth_findings, growth_tables, _figures(onset_figure, predicted_figure, aligned_figure), published=("growth",)
    ),
    "language_imbalance": PaperReport(
        imbalance_findings,
        imbalance_tables,
        _figures(imbalance_figure, curve_figure),
        imbalance_claims,
        ("language_imbalance",),
    ),
    "xtreme": PaperReport(
        lambda results: continued_findings(Continued(results)),
        _continued_tables,
        _continued_figures,
        lambda results: continued_claims(Continued(results)),
        ("xlm_align", "minilm", "weam", "ppa"),
        terms=_continued_terms,
        by_transform=False,
        summary=_continued_summary,
    ),
    "links": PaperReport(
        link_findings,
        link_tables,
        _figures(link_figure),
        published=("xlm_align",),
        published_table=2,
        terms=lambda results: (NATURAL[name] for name in ("links", "fast_align", "ways", "objectives")),
        by_transform=False,
        summary=lambda tables: ("table-2",),
    ),
}
