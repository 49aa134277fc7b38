"""`calque plan`: the models that a study would pretrain, and what they cost."""

from __future__ import annotations

import typer

from experiments.commands.options import Exp, Jobs, Set, opened


def plan(exp: Exp, settings: Set = None, jobs: Jobs = None) -> None:
    """List the models that a study would pretrain, with parameters, operations, memory and time here; run nothing."""
    from experiments.plan import describe

    typer.echo(describe(opened(exp, settings), jobs))
