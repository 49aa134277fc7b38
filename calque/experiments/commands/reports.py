"""The commands for reports: `calque compare` and `paper`."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from calque.derive.errors import BadInput, printable
from calque.experiments.commands.options import Root
from calque.experiments.run.places import ROOT

SHOWN = 20  # maximum number of differences listed
PAPERS = ROOT / "papers"
Report = Annotated[str, typer.Argument(metavar="REPORT", help="A folder, a study, or STUDY/NAME.")]


def compare(first: Report, second: Report, runs: Root = ROOT) -> None:
    """Compare the conclusions, numbers and records in two reports.

    The output first counts the verdicts on claims that differ, and the main scores, alignment, retrieval and
    error rates that differ by more than seed noise (Welch's t-test with Holm's correction). It then lists the
    records that differ.

    The exit code is 0 if all records are equal, 1 if any differs or is missing, and 2 if the reports share
    none.
    """
    from calque.experiments.report.comparison import compare_reports
    from calque.experiments.report.folder import report_folder

    comparison = compare_reports(report_folder(first, runs), report_folder(second, runs))
    typer.echo(comparison.verdict)
    for claim, (first_verdict, second_verdict) in comparison.changed.items():
        typer.echo(printable(f"  {claim}: {first_verdict}; in {second}: {second_verdict}"))
    for title in comparison.beyond[:SHOWN]:
        typer.echo(printable(f"  {title}"))
    typer.echo(f"Records: {comparison.equal:,} equal, {len(comparison.different):,} not.")
    for difference in comparison.different[:SHOWN]:
        typer.echo(printable(difference))
    if comparison.different:
        raise typer.Exit(1)


def paper(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="A name that `calque paper` lists, or `all`.")
    ] = None,
    item: Annotated[
        str | None, typer.Argument(metavar="ITEM", help="A table or figure, such as table-4.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The output folder.")] = PAPERS,
) -> None:
    """List or write papers' tables and figures, with our numbers.

    With ITEM, also print the table."""
    from calque.experiments.report import paper as papers
    from calque.experiments.report.outcome import as_text

    if not papers.COMMITTED.is_dir():
        raise BadInput("the installed package lacks the papers' records; clone Calque's repository")
    if paper is None:
        for line in papers.listing():
            spaces = len(line) - len(line.lstrip())
            typer.echo(_filled(line, spaces + 2 if spaces else 0))
        return
    paper_items = [papers.item(paper, item)] if item else papers.items(None if paper == "all" else paper)
    for entry in paper_items:
        content = papers.rendered(entry)
        if item and isinstance(content, papers.Table):
            typer.echo(f"{as_text(content)}\n")
        for file in papers.write(entry, content, out):
            typer.echo(file)
        for conclusion in papers.conclusions(entry.paper)[entry.name]:
            typer.echo(_filled(f"{entry.full_name}: {conclusion}", 2))
        typer.echo(_filled(f"Differs in: {entry.differs}.", 2))
        typer.echo(f"next: {entry.about['command']}\n")


def _filled(line: str, indent: int) -> str:
    return fill(line, 80, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
