"""`calque export`: tables and records for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Root
from calque.experiments.places import ROOT


def export(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study with a report, or its folder.")],
    latex: Annotated[bool, typer.Option("--latex", help="A table; its first line names the packages.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="All records, or the numbers of a table.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="All records; needs pyarrow and --out.")] = False,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="A table of the report, such as table-3.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="PATH", help="Write here instead of to the terminal.")] = None,
    runs: Root = ROOT,
) -> None:
    """Export a table as LaTeX or CSV, or all records.

    Records are joined with their runs, as CSV or Parquet."""
    if latex + csv + parquet != 1:
        raise BadInput("expected one of --latex, --csv and --parquet")
    if parquet and (table or not out):
        raise BadInput("--parquet exports all records: expected --out, and no --table")
    from calque.analysis.report.latex import latex as latex_of
    from calque.derive.files import whole_file
    from calque.experiments import export as formats
    from calque.experiments.report_records import joined_rows, records_folder

    folder = records_folder(study, runs)
    if parquet and out:
        formats.write_parquet(formats.flat(joined_rows(folder)), out)
        return
    if latex:
        text = latex_of(formats.table_of(folder, table), table or "")
    elif table:
        text = formats.table_of(folder, table).csv
    else:
        text = formats.records_csv(formats.flat(joined_rows(folder)))
    if out:
        with whole_file(out) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    else:
        typer.echo(text, nl=False)
