"""`calque paper`: tables and figures of papers, with our numbers."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.run.places import ROOT

OUT = ROOT / "papers"


def paper(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="A name that `calque paper` lists, or `all`.")
    ] = None,
    item: Annotated[
        str | None, typer.Argument(metavar="ITEM", help="A table or figure, such as table-4.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The output folder.")] = OUT,
) -> None:
    """List or write papers' tables and figures, with our numbers."""
    from calque.experiments.report import paper as papers

    if not papers.COMMITTED.is_dir():
        raise BadInput("the installed package lacks the papers' records; clone Calque's repository")
    if paper is None:
        if out != OUT:
            raise BadInput("--out applies only with a paper; name the paper to write")
        for line in papers.listing():
            spaces = len(line) - len(line.lstrip())
            typer.echo(filled(line, spaces + 2 if spaces else 0))
        return
    chosen = [papers.item(paper, item)] if item else papers.items(None if paper == "all" else paper)
    for one in chosen:
        for file in papers.write(one, out):
            typer.echo(file)
        for conclusion in papers.conclusions(one.paper)[one.name]:
            typer.echo(filled(f"{one.full_name}: {conclusion}", 2))
        typer.echo(filled(f"Differs in: {one.differs}.", 2))
        typer.echo(f"next: {one.command}\n")
    if not item:
        typer.echo(papers.write_index(chosen, out if paper == "all" else out / paper))


def filled(line: str, indent: int) -> str:
    """Wrap a line at 80 columns, with continuation lines indented by `indent` spaces."""
    return fill(line, 80, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
