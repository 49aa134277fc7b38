"""`calque paper`: tables and figures of papers by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.derive.files import whole_file
from calque.experiments.commands import study
from calque.experiments.places import ROOT

OUT = Path("papers")


def paper(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="As in `calque paper`, or `all`.")] = None,
    item: Annotated[str | None, typer.Argument(metavar="ITEM", help="A table or figure, such as table-4.")] = None,
    published: Annotated[bool, typer.Option("--published", help="Print the paper's own table; run nothing.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Compute missing runs first.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Make all items again, compare bytes, write nothing.")] = False,
    lock: Annotated[bool, typer.Option("--lock", help="Write what --check compares with.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where items are written.")] = OUT,
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Where --run keeps runs.")] = ROOT,
) -> None:
    """List the tables and figures of papers with their state, or make one, all of a paper, or all."""
    flags = {"--published": published, "--run": run, "--check": check, "--lock": lock}
    modes = [flag for flag, chosen in flags.items() if chosen]
    if len(modes) > 1:
        raise BadInput(f"{' and '.join(modes)} together; expected one of them")
    if (check or lock) and paper:
        raise BadInput(f"{modes[0]} is for the items of all papers; expected it without {paper}")
    if modes and not (check or lock or paper):
        raise BadInput(f"{modes[0]} without a paper; expected the name of one, or all")
    if out != OUT and (published or check or lock or not paper):
        raise BadInput("--out is for items that are written; expected a paper, and no option but --run")
    from calque.experiments import paper as papers

    if check:
        if differences := papers.check():
            raise BadInput(differences)
        typer.echo("every table and figure is as locked")
        return
    if lock:
        with whole_file(papers.LOCK) as part:
            part.write_text(json.dumps(papers.lock(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    if paper is None:
        typer.echo("\n".join(papers.listing()))
        return
    chosen = [papers.item(paper, item)] if item else papers.items(None if paper == "all" else paper)
    if published:
        typer.echo("\n".join(papers.published_table(one).markdown for one in chosen if item or not one.is_figure))
        return
    for one in chosen:
        if run and not one.committed:
            study.run(one.study, [*one.set], [one.sweep] if one.sweep else None, runs)
        if item or one.committed or run:
            for file in papers.write(one, out, runs):
                typer.echo(file)
            typer.echo(f"{one.full_name} differs from the paper: {one.differs}\n")
        else:
            typer.echo(f"{one.full_name} is missing; `{one.command}` computes its runs\n")
