"""`calque checklist`: answers to ARR's Responsible NLP checklist."""

from pathlib import Path
from typing import Annotated

import typer

from calque.experiments.commands.options import Own, Root, write_or_print
from calque.experiments.run.places import ROOT


def checklist(
    report: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study with a report, a report's name, or its folder.")
    ],
    own: Own = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Output file. Default: print the answers.")
    ] = None,
    runs: Root = ROOT,
) -> None:
    """Print a report's answers to ARR's Responsible NLP checklist.

    The answers are in Markdown; questions left for you are marked. --study names your own study's file."""
    from calque.analysis.report.table import Table
    from calque.experiments.report.checklist import as_markdown, checklist
    from calque.experiments.report.folder import report_folder, stored
    from calque.experiments.report.records import results_of
    from calque.experiments.settings.sweep import studies_of

    folder = report_folder(report, runs)
    about = stored(folder)
    claims = folder / "claims.md"
    table = Table.of_markdown(claims.read_text(encoding="utf-8")) if claims.is_file() else None
    answers = checklist(about, studies_of(about, own), runs, results_of(folder), table)
    text = as_markdown(f"Responsible NLP checklist: {about['study']}", answers)
    write_or_print(text, out)
