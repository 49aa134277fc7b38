"""`calque plan`: the models that a study would pretrain, and what they cost."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands.options import Exp, Jobs, Set, opened

Cards = Annotated[int | None, typer.Option(min=1, help="Estimate it on so many cards too, one process each.")]
Kind = Annotated[str, typer.Option(metavar="KIND", help="The kind of card, such as A100 or H100.")]


def plan(exp: Exp, settings: Set = None, jobs: Jobs = None, cards: Cards = None, kind: Kind = "H100") -> None:
    """List the models that a study would pretrain, with parameters, operations, memory and time here; run nothing."""
    from experiments.plan import card, describe

    chosen = card(kind)
    typer.echo(describe(opened(exp, settings), jobs, chosen if cards else None, cards or 1))
