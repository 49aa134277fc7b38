"""`calque plan`: what a study would run, and what it costs."""

from __future__ import annotations

import typer

from experiments.commands.options import Exp, Jobs, Set, opened


def plan(exp: Exp, settings: Set = None, jobs: Jobs = None) -> None:
    """List what a study would run, with parameters, operations, memory and time on this machine; run nothing."""
    from experiments.plan import describe

    typer.echo(describe(opened(exp, settings), jobs))
