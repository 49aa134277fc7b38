"""`calque export`: a report in the formats of papers and other programs."""

import re
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Root, write_or_print
from calque.experiments.run.places import ROOT


def export(
    report: Annotated[
        str, typer.Argument(metavar="REPORT", help="A name that `calque runs` prints, or a folder.")
    ],
    latex: Annotated[
        bool, typer.Option("--latex", help="A table as LaTeX; its first line lists the packages it needs.")
    ] = False,
    macros: Annotated[bool, typer.Option("--macros", help="A LaTeX macro for each cell of a table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="All records, or a table's numbers, as CSV.")] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="All records as Parquet; needs pyarrow and --out.")
    ] = False,
    figure: Annotated[str | None, typer.Option(metavar="NAME", help="A figure as PDF; needs --out.")] = None,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="BibTeX entries for Calque and for the objectives' papers.")
    ] = False,
    compute: Annotated[
        bool, typer.Option("--compute", help="The computation that the report took, in sentences.")
    ] = False,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table to export, such as table-3.")
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="WORD", help="A prefix for macro names.")] = "",
    width: Annotated[
        str, typer.Option(metavar="LENGTH", help="The figure's width, such as 8cm or 3.3in.")
    ] = "12cm",
    labels: Annotated[
        str, typer.Option(metavar="A=B,...", help='New labels for the figure, such as "MLM=Plain MLM".')
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Output file. Default: print to the terminal.")
    ] = None,
    runs: Root = ROOT,
) -> None:
    """Export a report's tables, records, figures or BibTeX.

    Tables are exported as LaTeX, LaTeX macros or CSV; records, joined with their runs, as CSV or Parquet."""
    given = {"latex": latex, "macros": macros, "csv": csv, "parquet": parquet, "figure": figure}
    given |= {"bibtex": bibtex, "compute": compute}
    chosen = [kind for kind, value in given.items() if value]
    if len(chosen) != 1:
        raise BadInput(f"expected one of {', '.join(f'--{kind}' for kind in given)}")
    if (parquet or figure) and not out:
        raise BadInput("--parquet and --figure need --out")
    if table and not (latex or macros or csv):
        raise BadInput("--table applies only to --latex, --macros and --csv")
    inches, names = _inches(width), _labels(labels)
    from calque.experiments.report import export as formats
    from calque.experiments.report.folder import report_folder
    from calque.experiments.report.records import joined_rows

    folder = report_folder(report, runs)
    if figure and out:
        formats.write_figure(folder, figure, inches, names, out)
    elif parquet and out:
        formats.write_parquet(formats.flat(joined_rows(folder)), out)
    elif table or latex or macros:
        write_or_print(_table(folder, chosen[0], table, prefix), out)
    else:
        write_or_print(_text(folder, chosen[0]), out)


def _table(folder: Path, kind: str, name: str | None, prefix: str) -> str:
    from calque.analysis.report.table import latex
    from calque.experiments.report.export import macros, table_of

    table = table_of(folder, name)
    if kind == "csv":
        return table.csv
    return latex(table, name or "") if kind == "latex" else macros(table, prefix, name or "")


def _text(folder: Path, kind: str) -> str:
    from calque.experiments.report.export import bibtex, flat, records_csv
    from calque.experiments.report.folder import ABOUT, stored
    from calque.experiments.report.records import joined_rows, read_records
    from calque.experiments.report.summary import compute_statement

    if kind == "bibtex":
        return bibtex(read_records(folder)[0])
    if kind == "csv":
        return records_csv(flat(joined_rows(folder)))
    statement = compute_statement(stored(folder))
    if not statement:
        raise BadInput("states no cost; reports from this version's `calque run` do", folder / ABOUT)
    return f"{statement}\n"


def _inches(width: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(cm|mm|in|pt)", width)
    inches = float(found[1]) / {"cm": 2.54, "mm": 25.4, "in": 1, "pt": 72.27}[found[2]] if found else 0.0
    if not 0 < inches <= 50:
        raise BadInput(f"--width {width!r}: expected a length such as 8cm, 80mm, 3.3in or 240pt")
    return inches


def _labels(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")] if text else []
    for name, sign, label in pairs:
        if not (name.strip() and sign and label.strip()):
            raise BadInput(f"--labels {text!r}: expected NAME=LABEL, or several separated by commas")
    return {name.strip(): label.strip() for name, _, label in pairs}
