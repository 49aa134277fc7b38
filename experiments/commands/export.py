"""`calque export`: a report in the formats of papers and other programs."""

import re
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Root
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
    kinds = {"latex": latex, "macros": macros, "csv": csv, "parquet": parquet, "figure": figure}
    kinds |= {"bibtex": bibtex, "compute": compute}
    if sum(map(bool, kinds.values())) != 1:
        raise BadInput(f"expected one of {', '.join(f'--{kind}' for kind in kinds)}")
    if (parquet or figure) and not out:
        raise BadInput("--parquet and --figure need --out")
    if table and not (latex or macros or csv):
        raise BadInput("--table applies only to --latex, --macros and --csv")
    inches, names = _inches(width), _labels(labels)
    from calque.analysis.report.latex import latex as latex_of
    from calque.derive.files import whole_file
    from calque.experiments.report import export as formats
    from calque.experiments.report.folder import ABOUT, joined_rows, read_records, report_folder, stored
    from calque.experiments.report.summary import COMPUTE, compute_statement

    folder = report_folder(report, runs)
    if figure and out:
        formats.write_figure(folder, figure, inches, names, out)
        return
    if parquet and out:
        formats.write_parquet(formats.flat(joined_rows(folder)), out)
        return
    if bibtex:
        text = formats.bibtex(read_records(folder)[0])
    elif compute:
        about = stored(folder)
        if COMPUTE not in about:
            raise BadInput("states no cost; reports from this version's `calque run` do", folder / ABOUT)
        text = compute_statement(about) + "\n"
    elif csv and not table:
        text = formats.records_csv(formats.flat(joined_rows(folder)))
    else:
        chosen = formats.table_of(folder, table)
        name = table or ""
        text = (
            chosen.csv if csv else latex_of(chosen, name) if latex else formats.macros(chosen, prefix, name)
        )
    if out:
        with whole_file(out) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    else:
        typer.echo(text, nl=False)


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
