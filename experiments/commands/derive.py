"""`calque derive`: write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""

from __future__ import annotations

import typer

from derive.artefact import remembering
from experiments.commands.options import Exp, Jobs, Root, Set, computed, opened
from experiments.places import CACHE, ROOT
from experiments.signals import RESUMES, leaving


@leaving(RESUMES)
def derive(exp: Exp, settings: Set = None, runs: Root = ROOT, jobs: Jobs = None) -> None:
    """Write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""
    from experiments.schedule import first_process

    study = opened(exp, settings)
    computed(study, runs, ["derive"], jobs)
    if first_process():
        with remembering(runs / CACHE):
            typer.echo("\n".join(study.account(runs)))
