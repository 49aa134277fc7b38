"""`calque runs`: the reports in a results folder."""

import json
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, printable
from calque.experiments.commands.options import Json, Root
from calque.experiments.run.places import ROOT

Models = Annotated[
    bool, typer.Option("--models", help="List the trained models and the reports that use each.")
]
Prune = Annotated[bool, typer.Option("--prune", help="Remove and list the shared steps that no report uses.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="With --prune: list these steps without removing them.")
]
HEADER = ("report", "settings", "seeds", "date", "state")


def runs(
    runs: Root = ROOT,
    as_json: Json = False,
    models: Models = False,
    prune: Prune = False,
    dry_run: DryRun = False,
) -> None:
    """List the reports in a results folder.

    `calque compare` accepts their names."""
    from calque.experiments.report.folder import reports
    from calque.experiments.run import shared

    if dry_run and not prune:
        raise BadInput("--dry-run applies only to --prune")
    if prune or models:
        for folder in (shared.unused(runs) if dry_run else shared.prune(runs)) if prune else ():
            typer.echo(printable(str(folder)))
        for name, its in sorted(shared.users(runs).items()) if models else ():
            if Path(name).name.startswith("seed-"):
                typer.echo(printable(f"{name}  {', '.join(its)}"))
        return
    found = list(reports(runs))
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    rows: list[tuple[str, ...]] = [HEADER] if found else []
    for one in found:
        settings = "; ".join([*one["settings"], *(f"sweep {values}" for values in one["sweep"])]) or "-"
        seeds = ",".join(map(str, one["seeds"])) or "-"
        state = "finished" if one["finished"] else "not finished"
        cells = (f"{one['study']}/{one['name']}", settings, seeds, one["date"] or "-", state)
        rows.append(tuple(map(printable, cells)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    if not found:
        typer.echo(f"no report below {runs}; `calque run STUDY` writes one")
