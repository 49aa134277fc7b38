"""`calque runs`: the reports in a results folder."""

import json

import typer

from calque.derive.errors import printable
from calque.experiments.commands.options import Json, Root
from calque.experiments.run.places import ROOT

HEADER = ("report", "settings", "seeds", "date", "state")


def runs(
    runs: Root = ROOT,
    as_json: Json = False,
) -> None:
    """List the reports in a results folder.

    `calque compare` accepts their names."""
    from calque.experiments.report.folder import reports

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
