"""The commands on studies: `calque run` and its stages, `report`, `plan` and `studies`."""

from __future__ import annotations

from typing import Annotated

import typer

from derive.digests import remembering
from experiments.commands.options import (
    STAGES,
    Change,
    Exp,
    Jobs,
    Root,
    Set,
    Sweeps,
    compute_stages,
    opened,
    varied,
    write_report,
)
from experiments.places import CACHE, ROOT
from experiments.signals import RESUMES, leaving

Cards = Annotated[int | None, typer.Option(min=1, help="Estimate it on so many cards too, one process each.")]
Kind = Annotated[str, typer.Option(metavar="KIND", help="The kind of card, such as A100 or H100.")]


@leaving(RESUMES)
def run(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    allow_change: Change = False,
) -> None:
    """Do all of a study: derive, pretrain, evaluate, report. Finished work is skipped."""
    study = varied(exp, settings, sweep)
    compute_stages(study, runs, STAGES, jobs, allow_change)
    write_report(study, runs, settings)


@leaving(RESUMES)
def derive(exp: Exp, settings: Set = None, runs: Root = ROOT, jobs: Jobs = None) -> None:
    """Write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""
    from experiments.schedule import first_process
    from experiments.summary import account

    study = opened(exp, settings)
    compute_stages(study, runs, ["derive"], jobs)
    if first_process():
        with remembering(runs / CACHE):
            typer.echo("\n".join(account(study, runs)))


@leaving(RESUMES)
def pretrain(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    allow_change: Change = False,
) -> None:
    """Pretrain every model of a study; under torchrun, all processes share each model's batches."""
    compute_stages(varied(exp, settings, sweep), runs, ["derive", "pretrain"], jobs, allow_change)


@leaving(RESUMES)
def evaluate(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    allow_change: Change = False,
) -> None:
    """Pretrain missing models, fine-tune and score every model of a study, and measure its alignment."""
    compute_stages(varied(exp, settings, sweep), runs, STAGES, jobs, allow_change)


def report(exp: Exp, settings: Set = None, sweep: Sweeps = None, runs: Root = ROOT) -> None:
    """Make tables, figures, claims and report.html from the records of a study; it computes nothing."""
    write_report(varied(exp, settings, sweep), runs, settings)


def plan(exp: Exp, settings: Set = None, jobs: Jobs = None, cards: Cards = None, kind: Kind = "H100") -> None:
    """List the models that a study would pretrain, with parameters, operations, memory and time here; run nothing."""
    from experiments.plan import card, describe

    chosen = card(kind)
    typer.echo(describe(opened(exp, settings), jobs, chosen if cards else None, cards or 1))


def studies() -> None:
    """List the studies, each with a one-line description."""
    from experiments import names

    for name in names.studies():
        typer.echo(f"{name:<21}{names.study_doc(name)}")
