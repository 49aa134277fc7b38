"""The commands that run, plan, report and list studies."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Own, Parser, Root
from calque.experiments.commands.show import print_derived
from calque.experiments.run.places import ROOT, check_report_name

if TYPE_CHECKING:
    from calque.experiments.session import StudySession

Exp = Annotated[str, typer.Argument(metavar="STUDY", help="A study in `calque studies`, or my_study.py.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as in train.steps=1000; repeatable."),
]
Sweeps = Annotated[
    list[str] | None,
    typer.Option("--sweep", metavar="KEY=V1,V2", help="Try several values of a setting; repeatable."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of parallel steps; it does not affect results. Default: all cores, or one on a GPU.",
    ),
]
Change = Annotated[bool, typer.Option("--allow-change", help="Resume even if the environment has changed.")]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=check_report_name,
        help="The report's name; its folder is runs/STUDY/reports/NAME.",
    ),
]


def run(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    change: Change = False,
    name: Name = None,
    on: Annotated[
        Literal["local", "slurm"], typer.Option(help="Compute on this machine, or in Slurm jobs.")
    ] = "local",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An sbatch option, as in partition=gpu; repeatable."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the Slurm scripts without submitting them.")
    ] = False,
) -> None:
    """Run a whole study, skipping finished work.

    The stages are derive, pretrain, evaluate and report. Under torchrun, each model's batches are divided
    among all processes."""
    if on == "local" and (option or dry_run):
        raise BadInput("--option and --dry-run apply only to Slurm jobs; add --on slurm")
    session = _opened(exp, settings, sweep, runs, name)
    if on == "slurm" and (dry_run or not all(step.finished for step in session.steps)):
        words = ["calque", "cell", exp, f"--runs={runs}", *(["--allow-change"] if change else [])]
        words += [f"--set={pair}" for pair in settings or ()] + [f"--sweep={pair}" for pair in sweep or ()]
        _submit(session, words, option or [], jobs, dry_run)
        return
    from calque.experiments.run.step import first_process

    wall = session.compute(jobs=jobs, change=change)
    if first_process():
        typer.echo(session.summarise(wall))


def _submit(
    session: StudySession, words: list[str], options: list[str], jobs: int | None, dry_run: bool
) -> None:
    """Submit the unfinished steps as Slurm jobs that run the command `words`, or only print their scripts."""
    from calque.experiments.report.summary import counted
    from calque.experiments.run.slurm import Slurm

    slurm = Slurm(session.steps, session.runs / session.study.name, words, options, jobs)
    if dry_run:
        typer.echo(slurm.script)
        return
    session.reserve()
    typer.echo(f"{counted(slurm.submit(), 'job')} submitted; logs in {slurm.folder}")
    typer.echo("next: when the jobs have ended, rerun the command, which writes the report")


def cell(
    exp: Exp,
    fingerprints: Annotated[
        list[str],
        typer.Argument(
            metavar="FINGERPRINT...", help="Fingerprints of steps, as at the end of their folders' names."
        ),
    ],
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    change: Change = False,
) -> None:
    """Run individual steps and the steps that they need (used by cluster jobs).

    It skips finished steps, and waits for steps that other jobs are computing."""
    from calque.experiments.run.progress import board
    from calque.experiments.run.schedule import compute

    session = _opened(exp, settings, sweep, runs)
    names, study = {name.rpartition("-")[2] for name in fingerprints}, session.study.name
    steps = [step for step in session.steps if step.fingerprint in names]
    if unknown := sorted(names - {step.fingerprint for step in steps}):
        raise BadInput(f"{study} has no step {unknown[0]}: its inputs changed; restart `calque run`")
    with board(steps, study) as progress:
        compute(steps, session.home, None, progress.report, change)


def derive(
    exp: Annotated[str, typer.Argument(metavar="STUDY|FILE", help="A study, or a text file.")],
    settings: Set = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The derived language, such as trans.inv, for FILE."),
    ] = None,
    parser: Parser = None,
    own: Own = None,
) -> None:
    """Derive a study's languages, or a file's text in one language."""
    if language is not None:
        if settings or jobs:
            raise BadInput("--set and --jobs apply only to studies; leave them out with --language")
        print_derived(Path(exp), language, parser, runs, own)
        return
    if own or (not exp.endswith(".py") and Path(exp).is_file()):
        raise BadInput(f"{exp}: to derive a file's text, name the language, as in --language trans.inv")
    session = _opened(exp, settings, None, runs)
    from calque.experiments.report.summary import account
    from calque.experiments.run.step import first_process

    session.compute(["derive"], jobs)
    if first_process():
        typer.echo("\n".join(account(session.study, runs)))


def pretrain(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    change: Change = False,
) -> None:
    """Pretrain every model in a study."""
    _opened(exp, settings, sweep, runs).compute(["derive", "pretrain"], jobs, change)


def evaluate(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    change: Change = False,
) -> None:
    """Fine-tune, score and measure every model in a study.

    Missing models are pretrained first."""
    _opened(exp, settings, sweep, runs).compute(jobs=jobs, change=change)


def report(
    exp: Annotated[
        str, typer.Argument(metavar="STUDY", help="A study, my_study.py, or a folder of records.")
    ],
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    name: Name = None,
) -> None:
    """Write the report for a finished study or a folder of records."""
    from calque.experiments.settings.catalogue import studies

    if exp.endswith(".py") or exp in studies() or not ("/" in exp or Path(exp).is_dir()):
        session = _opened(exp, settings, sweep, runs, name)
        typer.echo(session.summarise())
        return
    if settings or sweep:
        raise BadInput("--set and --sweep apply only to studies; leave them out for a folder of records")
    from calque.experiments.report.folder import check_outside, describe_records, named_report
    from calque.experiments.report.report import summarise_records

    records = Path(exp)
    about = describe_records(records, name or records.resolve().name)
    folder = named_report(runs, about)
    check_outside(folder, records)
    typer.echo(summarise_records(records, folder, about))


def plan(exp: Exp, settings: Set = None, sweep: Sweeps = None, jobs: Jobs = None, runs: Root = ROOT) -> None:
    """Estimate a study's operations and time without running it."""
    session = _opened(exp, settings, sweep, runs)
    from calque.experiments.plan import describe

    typer.echo(describe(session, jobs))
    typer.echo(f"next: calque run {exp}{' with the same options' if settings or sweep else ''}")


def studies() -> None:
    """List the studies, their time on two cores and their requirements."""
    from calque.experiments.settings.catalogue import table

    for name, row in table().items():
        typer.echo(f"{name:<21}{row['time']:<23}{row.get('needs', '')}".rstrip())
        typer.echo(fill(row["doc"], 80, initial_indent="  ", subsequent_indent="  "))
    typer.echo("next: calque plan NAME, or calque run NAME")


def _opened(
    exp: str, settings: list[str] | None, sweeps: list[str] | None, runs: Path, name: str | None = None
) -> StudySession:
    from calque.experiments.session import StudySession

    return StudySession.open(exp, settings or (), runs, sweeps or (), name or "")
