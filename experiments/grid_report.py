"""The report of a transfer grid: its records become tables, figures, claims and report.html."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from analysis.papers.looks import distinct
from analysis.papers.terms import terms
from analysis.records import json_rows
from analysis.report.claims_table import claims_table
from analysis.report.excerpt import excerpt
from analysis.report.page import Report, write_report
from analysis.report.plot import Drawing
from analysis.report.style import MOST
from analysis.report.table import Table
from analysis.report.verdicts import verdicts
from analysis.results.results import Results
from derive.files import whole_folder
from derive.preview import PREVIEW
from experiments.account import of_languages, of_pretraining, of_task
from experiments.published import published
from experiments.reporting import PAPERS
from experiments.runs import RECORDS, RUNS, run_of
from experiments.step import Step
from experiments.steps.pretraining import Pretrain
from experiments.transfer_grid import TransferGrid

LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy")


def write_grid_report(study: TransferGrid, root: Path, folder: Path) -> str:
    """Write the report folder from the records of every evaluation, and return what a terminal should show.

    Raises:
        BadInput: records are missing or damaged.
    """
    languages, examples = study.languages(root), study.examples(root)
    runs = [study.pretraining(languages, cell) for cell in study.cells]
    rows = [record for run in runs for evaluation in study.evaluations(run, examples) for record in evaluation.read()]
    made = [run_of(study, cell, run.folder.name) for cell, run in zip(study.cells, runs, strict=True)]
    results = Results(made, rows, published(study.paper))
    of_tasks = [line for step in examples for line in of_task(step.open().facts)]
    derived = languages.open()
    preview = derived.path(PREVIEW).read_text(encoding="utf-8")
    with whole_folder(folder) as part:
        json_rows.write(part / RUNS, made)
        json_rows.write(part / RECORDS, rows)
        shown = show(results, study.paper, study.scale, part)
        page = Report(
            title=f"Calque: the study {study.name}",
            scale=study.scale,
            drawings=shown.drawings,
            claims=shown.claims,
            findings=[*PAPERS[study.paper].findings(results), verdicts(shown.claims)],
            tables=shown.tables,
            examples=[("The first examples of preview.txt", excerpt(preview))],
            terms=list(terms(results)),
            dropped=[*of_languages(derived.facts), *of_tasks, *of_pretraining(runs), *_not_drawn(results)],
            facts=_facts(study, languages, runs[0]),
            runs=results.run_ids(),
        )
        write_report(part / "report.html", page)
    return "\n".join(table.markdown for table in (*shown.tables, shown.claims)) + f"\n{folder / 'report.html'}"


@dataclass(frozen=True)
class Shown:
    """What a folder of tables and figures holds."""

    tables: list[Table]
    claims: Table
    drawings: list[Drawing]


def show(results: Results, paper: str, scale: str, folder: Path) -> Shown:
    """Write a paper's tables, claims and figures, made of records alone, into a folder."""
    reporting = PAPERS[paper]
    claims = claims_table(results, reporting.claims(results), scale)
    tables = dict(reporting.tables(results, scale))
    for name, table in ({"claims": claims} | tables).items():
        (folder / f"{name}.csv").write_text(table.csv, encoding="utf-8")
        (folder / f"{name}.md").write_text(table.markdown, encoding="utf-8")
    plots = [draw(results, scale) for draw in reporting.figures]
    return Shown(list(tables.values()), claims, [plot.save(folder / "figures") for plot in plots if plot])


def _not_drawn(results: Results) -> list[str]:
    if len(results.transforms) <= MOST and distinct(results.objectives):
        return []
    return [
        f"figures with a panel or a line for each transform are drawn for up to {MOST} of them, and figures with a "
        "line for each objective for as many as they can tell apart; the tables have them all"
    ]


def _facts(study: TransferGrid, languages: Step, first: Pretrain) -> list[tuple[str, str]]:
    run = first.open().facts["identity"]
    return [
        ("Seeds", ", ".join(map(str, study.seeds))),
        ("Model", ", ".join(f"{key} {value}" for key, value in run["model"].items() if key != "kind")),
        ("Training", ", ".join(f"{key} {value}" for key, value in run["train"].items() if key != "kind")),
        ("Dictionary", f"{study.dictionary.fraction:.0%} of the types, by {study.dictionary.by}"),
        ("Languages", f"{languages.fingerprint} (fingerprint of the derived data)"),
        ("Machine", f"{platform.machine()}, {run['device']}, {run['threads']} thread(s) a model"),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)),
    ]
