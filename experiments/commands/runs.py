"""`calque runs` and `calque watch`: the reports and the training runs below a folder of results."""

import json
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, printable
from calque.experiments.commands.options import Root
from calque.experiments.commands.study import Json
from calque.experiments.places import ROOT

HEADER = ("report", "settings", "seeds", "date", "state")


def runs(runs: Root = ROOT, as_json: Json = False) -> None:
    """List the reports below a folder of results, with their settings; `calque compare` takes their names."""
    from calque.experiments.runs import reports

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


def watch(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study below --runs, or any folder of its runs.")],
    runs: Root = ROOT,
    every: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="The pause between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print the table once and leave, as in a pipe.")] = False,
) -> None:
    """Show the training runs of a study as they go on: loss, speed, share of the machine's peak, time left.

    It reads files only, so it also works on a folder that another machine writes.
    """
    from rich.live import Live

    from calque.experiments.progress import console
    from calque.experiments.watch import tables, trainings

    home = Path(study) if Path(study).is_dir() else runs / study
    if not home.is_dir() or not trainings(home):
        raise BadInput("no training run below it; expected a study that was started, or a folder of runs", home)
    shown = tables(home, every)
    if once or not console.is_terminal:
        console.print(next(shown))
        return
    with Live(next(shown), console=console, auto_refresh=False) as live:
        for table in shown:
            live.update(table, refresh=True)
