"""The report of a study of natural languages: its records become tables, figures, claims and report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.papers.by_language import PPA, WEAM, ByLanguage, by_language
from analysis.papers.minilm.curve import curve_table, curves
from analysis.papers.minilm.curve_figure import curve_figure
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.continued_claims import continued_claims
from analysis.papers.xlm_align.continued_figure import continued_figure
from analysis.papers.xlm_align.continued_findings import continued_findings
from analysis.papers.xlm_align.continued_tables import continued_tables
from analysis.papers.xlm_align.task_figure import task_figure
from analysis.records import json_rows
from analysis.records.floor import FLOORS, Floor
from analysis.records.record import RECORDS, Published, Record
from analysis.records.run import RUNS, Run
from analysis.report.claims_table import claims_table
from analysis.report.null_table import null_table
from analysis.report.page import Report, write_report
from analysis.report.table import Table
from analysis.report.verdicts import verdicts
from analysis.results.results import Results
from derive.files import whole_folder
from experiments.link_report import TERMS as LINK_TERMS
from experiments.published import published
from experiments.terminal import told

PAPER = "xlm_align"
LINKS = tuple(term for term in LINK_TERMS if term[0] != "fast_align")
TERMS = (
    (
        "The start",
        "The encoder as it was given. It gets a prediction head, and is pretrained further on text and on pairs of "
        "translated sentences. Models of objectives that read the same read it in the same order; WEAM, PPA and "
        "word-aligned BERT read pairs alone. What each was shown stands at the end.",
    ),
)
RETRIEVED = (
    "Retrieval, cosine, CSLS",
    "A sentence is the mean of its sub-words’ hidden states; found is a translation that is nearer to it than all "
    "other sentences of that language. CSLS takes from sentences that are near to all others what makes them so.",
)
ZERO_SHOT = (
    "Zero-shot",
    "Fine-tuned on one language, tested on another: its annotated sentences are never learnt from.",
)


@dataclass(frozen=True)
class Outcome:
    """What a study of natural languages has to report.

    `source` is the language that tasks were learnt in, `bitexts` those that were read; `dropped` what was left out
    and why, `facts` with what it was made.
    """

    study: str
    scale: str
    sets: tuple[str, ...]
    aligners: tuple[str, ...]
    source: str
    bitexts: tuple[str, ...]
    runs: Sequence[Run]
    records: Sequence[Record]
    dropped: Sequence[str]
    facts: Sequence[tuple[str, str]]
    floors: Sequence[Floor] = ()


def write_natural_report(outcome: Outcome, folder: Path) -> str:
    """Write the report folder, whole or not at all, and return what a terminal should show.

    Raises:
        BadInput: as `Results`, or a number is not finite.
    """
    results = Results(outcome.runs, outcome.records, beside(), outcome.floors)
    made = Continued(results, outcome.sets, outcome.aligners, outcome.source, outcome.bitexts)
    tables = dict(tables_of(made, outcome.scale))
    with whole_folder(folder) as part:
        json_rows.write(part / RUNS, outcome.runs)
        json_rows.write(part / RECORDS, outcome.records)
        json_rows.write(part / FLOORS, outcome.floors)
        for name, table in tables.items():
            (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        claims, null = tables.pop("claims", None), tables.pop("null", None)
        aligners = outcome.aligners if outcome.sets else ()
        plots = [figure(made, results.published, outcome.scale) for figure in (task_figure, curve_figure)]
        plots += [continued_figure(made, aligner, results.published, outcome.scale) for aligner in aligners]
        findings = [*continued_findings(made), *([verdicts(claims)] if claims else [])]
        page = Report(
            title=f"Calque: the study {outcome.study}",
            scale=outcome.scale,
            drawings=[plot.save(part / "figures") for plot in plots if plot],
            claims=claims,
            null=null,
            findings=findings,
            tables=list(tables.values()),
            terms=[
                *(LINKS if made.sets else ()),
                *(TERMS if made.learnt else ()),
                *([RETRIEVED] if made.pairs else []),
                *([ZERO_SHOT] if made.tasks else []),
            ],
            dropped=outcome.dropped,
            facts=outcome.facts,
            runs=results.run_ids(),
        )
        write_report(part / "report.html", page)
    summing_up = ("xtreme", "aer", "retrieval")
    shown = {
        name: table
        for name, table in tables.items()
        if name in summing_up or ("xtreme" not in tables and name.startswith("task-"))
    }
    return told(folder, findings, shown | ({"claims": claims} if claims else {}))


def beside() -> list[Published]:
    """The published numbers that stand beside ours."""
    return [*published(PAPER), *published("minilm")]


def tables_of(made: Continued, scale: str) -> list[tuple[str, Table]]:
    """Every table that records make, claims among them, under the names of their files."""
    judged = [
        ("claims", claims_table(made.results, continued_claims(made), scale)),
        ("null", null_table(made.results, scale)),
    ]
    runs = tuple(sorted(made.results.runs))
    by_papers = [
        (f"{paper.paper.lower()}-{task}", by_language(made, task, paper, published(paper.paper.lower()), scale, runs))
        for paper in (WEAM, PPA)
        for task in made.tasks
        if _compared(made, task, paper)
    ]
    printed = made.results.published
    tables = continued_tables(made, printed, scale)
    by_amount = [(f"curve-{task}", curve_table(made, task, printed, scale, runs)) for task in curves(made)]
    return [*tables, *by_amount, *by_papers, *((name, table) for name, table in judged if table)]


def _compared(made: Continued, task: str, paper: ByLanguage) -> bool:
    """Whether a paper's rows belong beside ours: its objective was learnt or, of PPA, translations were."""
    if paper is PPA and len(made.ways(task)) > 1:
        return True
    known = any(name.startswith(paper.paper) for name in made.learnt)
    return known and bool(paper.among(published(paper.paper.lower()), task))
