"""`calque null`: how often seeds of one objective, treated as two objectives, are called different."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.options import Root
from experiments.places import ROOT

Recorded = Annotated[str, typer.Argument(metavar="STUDY", help="A study with a report, or a folder of records.")]


def null(study: Recorded, runs: Root = ROOT) -> None:
    """Treat seeds of one objective as two objectives, and tell how often they are called different: 5 % are nominal."""
    from analysis.report.claims_table import null_table
    from derive.errors import BadInput
    from experiments.report import recorded

    folder, results = recorded(study, runs)
    table = null_table(results, f"study {results.study}")
    if table is None:
        have = f"seed {results.seeds[0]} alone" if len(results.seeds) == 1 else "no two seeds of one model"
        raise BadInput(
            f"records of {have}; expected two seeds or more, and four where verdicts over seeds are to be checked "
            "(--set seeds=0,1,2,3)",
            folder,
        )
    typer.echo(table.markdown)
