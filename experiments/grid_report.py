"""The report of a transfer grid: its records become tables, figures, claims and report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.papers.looks import distinct
from analysis.papers.terms import terms
from analysis.records import json_rows
from analysis.records.floor import FLOORS, Floor
from analysis.records.record import RECORDS, Record
from analysis.records.run import RUNS, Run
from analysis.report.claims_table import claims_table
from analysis.report.excerpt import excerpt
from analysis.report.null_table import null_table
from analysis.report.page import Report, write_report
from analysis.report.plot import Drawing
from analysis.report.style import MOST
from analysis.report.table import Table
from analysis.report.verdicts import verdicts
from analysis.results.results import Results
from derive.files import whole_folder
from experiments.reporting import PAPERS, published_beside
from experiments.terminal import told


@dataclass(frozen=True)
class Outcome:
    """What a transfer grid has to report.

    `preview` is the text of its languages' preview.txt, `dropped` what it left out and why, `facts` with what it was
    made.
    """

    study: str
    scale: str
    paper: str
    runs: Sequence[Run]
    records: Sequence[Record]
    preview: str
    dropped: Sequence[str]
    facts: Sequence[tuple[str, str]]
    floors: Sequence[Floor] = ()


def write_grid_report(outcome: Outcome, folder: Path) -> str:
    """Write the report folder, whole or not at all, and return what a terminal should show.

    Raises:
        BadInput: as `Results`, or a number is not finite.
    """
    results = Results(outcome.runs, outcome.records, published_beside(outcome.paper), outcome.floors)
    with whole_folder(folder) as part:
        json_rows.write(part / RUNS, outcome.runs)
        json_rows.write(part / RECORDS, outcome.records)
        json_rows.write(part / FLOORS, outcome.floors)
        shown = show(results, outcome.paper, outcome.scale, part)
        findings = [*PAPERS[outcome.paper].findings(results), *([verdicts(shown.claims)] if shown.claims else [])]
        page = Report(
            title=f"Calque: the study {outcome.study}",
            scale=outcome.scale,
            drawings=shown.drawings,
            claims=shown.claims,
            findings=findings,
            null=shown.null,
            tables=list(shown.tables.values()),
            examples=[("The first examples of preview.txt", excerpt(outcome.preview))],
            terms=list(terms(results)),
            dropped=[*outcome.dropped, *_not_drawn(results)],
            facts=outcome.facts,
            runs=results.run_ids(),
        )
        write_report(part / "report.html", page)
    return told(folder, findings, shown.tables | ({"claims": shown.claims} if shown.claims else {}))


@dataclass(frozen=True)
class Shown:
    """What a folder of tables and figures holds; tables by the names of their files."""

    tables: dict[str, Table]
    claims: Table | None
    null: Table | None
    drawings: list[Drawing]


def show(results: Results, paper: str, scale: str, folder: Path) -> Shown:
    """Write a paper's tables, claims and figures, made of records alone, into a folder."""
    reporting = PAPERS[paper]
    claims = claims_table(results, reporting.claims(results), scale, reporting.claimed)
    null = null_table(results, scale)
    tables = dict(reporting.tables(results, scale))
    judged = {name: table for name, table in (("claims", claims), ("null", null)) if table}
    for name, table in (judged | tables).items():
        (folder / f"{name}.csv").write_text(table.csv, encoding="utf-8")
        (folder / f"{name}.md").write_text(table.markdown, encoding="utf-8")
    plots = [draw(results, scale) for draw in reporting.figures]
    return Shown(tables, claims, null, [plot.save(folder / "figures") for plot in plots if plot])


def _not_drawn(results: Results) -> list[str]:
    if len(results.transforms) <= MOST and distinct(results):
        return []
    return [
        f"figures with a panel or a line for each transform are drawn for up to {MOST} of them, and figures with a "
        "line for each objective for as many as they can tell apart; the tables have them all"
    ]
