"""`calque derive`: write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""

from __future__ import annotations

import typer

from experiments.commands.options import RUNS, Exp, Jobs, Root, Set, computed, opened


def derive(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None) -> None:
    """Write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""
    from experiments.schedule import first_process

    study = opened(exp, settings)
    computed(study, runs, ["derive"], jobs)
    if first_process():
        for line in study.account(runs):
            typer.echo(line)
