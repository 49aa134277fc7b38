"""The commands for derived languages, studies and reports."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from calque.derive.errors import BadInput
from calque.experiments.run.places import CACHE, ROOT, check_report_name

if TYPE_CHECKING:
    from calque.derive.transform import Transform
    from calque.experiments.run.step import Stage
    from calque.experiments.session import StudySession

Own = Annotated[str | None, typer.Option("--study", metavar="STUDY", help="A study with its own transforms.")]
Parser = Annotated[
    Path | None, typer.Option(envvar="CALQUE_STANZA", help="Stanza models, to parse sentences.")
]
Root = Annotated[Path, typer.Option("--runs", file_okay=False, help="The results folder.")]
Exp = Annotated[str, typer.Argument(metavar="STUDY", help="A study in `calque studies`, or my_study.py.")]
SET = typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as in train.steps=1000; repeatable.")
Set = Annotated[list[str] | None, SET]
SWEEP = typer.Option("--sweep", metavar="KEY=V1,V2", help="Try several values of a setting; repeatable.")
Sweeps = Annotated[list[str] | None, SWEEP]
JOBS = typer.Option(min=1, help="Number of steps in parallel. Default: all cores, or one on a GPU.")
Jobs = Annotated[int | None, JOBS]
Change = Annotated[bool, typer.Option("--allow-change", help="Resume even if the environment has changed.")]
NAME = typer.Option(
    metavar="NAME", callback=check_report_name, help="Write the report to STUDY/reports/NAME."
)
Name = Annotated[str | None, NAME]


# Languages


def show(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT LANGUAGE...",
            help="A text in quotes, then languages; trans.inv is trans applied to the output of inv.",
        ),
    ] = None,
    study: Own = None,
    parser: Parser = None,
    runs: Root = ROOT,
) -> None:
    """Print a sentence in derived languages, with glosses."""
    from calque.derive.on_demand import sentences_of, side_by_side, transforms_of

    study_transforms = _transforms(study)
    text, *languages = words or [""]
    languages = languages or list(study_transforms)
    if not languages:
        raise BadInput('expected a text in quotes and a language, as in: calque show "Sara ate ." trans.inv')
    try:
        transforms = transforms_of(languages, parser, runs / CACHE, study_transforms)
    except BadInput as error:
        hint = "" if " " in text else "; put a text of several words in quotes"
        raise BadInput(f"{error}{hint}") from None
    sentences, failed = sentences_of(text, transforms, parser)
    for why, count in failed.items():
        reason = f"{count} of {len(sentences)} sentences could not be parsed and keep their order: {why}"
        typer.echo(f"calque: {reason}", err=True)
    for number, sentence in enumerate(sentences):
        typer.echo(side_by_side(sentence, transforms, number))


def derive(
    exp: Annotated[str, typer.Argument(metavar="STUDY|FILE", help="A study, or a text file.")],
    settings: Set = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    language: Annotated[
        str | None, typer.Option(metavar="NAME", help="The derived language, such as trans.inv, for FILE.")
    ] = None,
    parser: Parser = None,
    own: Own = None,
) -> None:
    """Derive a study's languages, or a file's text in one language."""
    if language is not None:
        if settings or jobs:
            raise BadInput("--set and --jobs apply only to studies; leave them out with --language")
        _print_derived(Path(exp), language, parser, runs, own)
        return
    if own or (not exp.endswith(".py") and Path(exp).is_file()):
        raise BadInput(f"{exp}: to derive a file's text, name the language, as in --language trans.inv")
    session = _opened(exp, settings, None, runs)
    from calque.experiments.report.summary import account
    from calque.experiments.run.step import first_process

    session.compute(["derive"], jobs)
    if first_process():
        typer.echo("\n".join(account(session.study, runs)))


def _print_derived(path: Path, language: str, parser: Path | None, runs: Path, study: str | None) -> None:
    from calque.derive.on_demand import derive_file, transforms_of
    from calque.derive.readers.text import detect
    from calque.derive.sources.files import Files
    from calque.derive.transform import TORN, Account

    if detect(path) == "treebank":
        raise BadInput("this file is a treebank; expected text", path)
    account, cache = Account(), runs / CACHE
    (transform,) = transforms_of([language], parser, cache, _transforms(study))
    lines = derive_file(Files((path,), parser=parser), transform, account, cache)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    for what, count in (account.left_out + account.kept + Counter({TORN: account.split_spans})).items():
        typer.echo(f"{count:,} {what}", err=True)


def _transforms(study: str | None) -> dict[str, Transform]:
    if study is None:
        return {}
    from calque.experiments.settings.catalogue import named_study

    languages = named_study(study).languages
    if not languages.derived:
        raise BadInput("the study has no derived languages", study)
    return {transform.name: transform for transform in languages.transforms}


# Studies


def studies() -> None:
    """List the studies, their time on two cores and their requirements."""
    from calque.experiments.settings.catalogue import table

    for name, row in table().items():
        typer.echo(f"{name:<21}{row['time']:<23}{row.get('needs', '')}".rstrip())
        typer.echo(fill(row["doc"], 80, initial_indent="  ", subsequent_indent="  "))
    typer.echo("next: calque plan NAME, or calque run NAME")


def plan(exp: Exp, settings: Set = None, sweep: Sweeps = None, jobs: Jobs = None, runs: Root = ROOT) -> None:
    """Estimate a study's operations and time without running it."""
    session = _opened(exp, settings, sweep, runs)
    from calque.experiments.plan import describe

    typer.echo(describe(session, jobs))
    typer.echo(f"next: calque run {exp}{' with the same options' if settings or sweep else ''}")


def run(
    exp: Exp,
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    jobs: Jobs = None,
    change: Change = False,
    name: Name = None,
    on: Annotated[
        Literal["local", "slurm"],
        typer.Option(help="Compute on this machine, or print a batch script for Slurm's sbatch."),
    ] = "local",
) -> None:
    """Run a whole study, skipping finished work.

    The stages are derive, pretrain, evaluate and report. Under torchrun, each model's batches are divided
    among all processes."""
    session = _opened(exp, settings, sweep, runs, name)
    if on == "slurm":
        from calque.experiments.slurm import script

        if all(step.finished for step in session.steps):
            raise BadInput("all steps are finished; run the command without --on slurm to write the report")
        command = ["calque", "cell", exp, f"--runs={runs}", *(["--allow-change"] if change else [])]
        command += [f"--set={pair}" for pair in settings or ()] + [f"--sweep={pair}" for pair in sweep or ()]
        typer.echo(script(session.study.name, session.steps, command, jobs))
        return
    from calque.experiments.run.step import first_process

    wall = session.compute(jobs=jobs, change=change)
    if first_process():
        typer.echo(session.summarise(wall))


def _stages_command(stages: Sequence[Stage], about: str) -> Callable[..., None]:
    def command(
        exp: Exp,
        settings: Set = None,
        sweep: Sweeps = None,
        runs: Root = ROOT,
        jobs: Jobs = None,
        change: Change = False,
    ) -> None:
        _opened(exp, settings, sweep, runs).compute(stages, jobs, change)

    command.__doc__ = about
    return command


pretrain = _stages_command(["derive", "pretrain"], "Pretrain every model in a study.")
evaluate = _stages_command(
    ["derive", "pretrain", "evaluate"],
    "Fine-tune, score and measure every model in a study.\n\nMissing models are pretrained first.",
)


def cell(
    exp: Exp,
    fingerprints: Annotated[
        list[str], typer.Argument(metavar="FINGERPRINT...", help="The ends of the steps' folders' names.")
    ],
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    change: Change = False,
) -> None:
    """Run individual steps and the steps that they need (used by cluster jobs).

    Finished steps are skipped; steps that other jobs are computing are awaited."""
    from calque.experiments.run.progress import board
    from calque.experiments.run.schedule import compute

    session = _opened(exp, settings, sweep, runs)
    names, study = {name.rpartition("-")[2] for name in fingerprints}, session.study.name
    steps = [step for step in session.steps if step.fingerprint in names]
    for name in sorted(names - {step.fingerprint for step in steps}):
        raise BadInput(f"{study} has no step {name}: its inputs changed; restart `calque run`")
    with board(steps, study) as progress:
        compute(steps, session.home, None, progress.report, change)


def _opened(
    exp: str, settings: list[str] | None, sweeps: list[str] | None, runs: Path, name: str | None = None
) -> StudySession:
    from calque.experiments.settings.catalogue import named_study

    study = named_study(exp)  # before slow imports, so that an unknown name is reported at once
    from calque.experiments.settings.override import override

    study = override(study, settings or ())
    from calque.experiments.session import StudySession

    return StudySession(study, runs, tuple(settings or ()), name or "", tuple(sweeps or ()))


# Reports


def report(
    exp: Annotated[str, typer.Argument(metavar="STUDY", help="A study, my_study.py, or a records folder.")],
    settings: Set = None,
    sweep: Sweeps = None,
    runs: Root = ROOT,
    name: Name = None,
) -> None:
    """Write the report for a finished study or a folder of records."""
    from calque.experiments.settings.catalogue import studies

    if exp.endswith(".py") or exp in studies() or not ("/" in exp or Path(exp).is_dir()):
        typer.echo(_opened(exp, settings, sweep, runs, name).summarise())
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


def paper(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="A listed paper, or `all`.")] = None,
    item: Annotated[str | None, typer.Argument(metavar="ITEM", help="A table or figure: table-4.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The output folder.")] = ROOT / "papers",
) -> None:
    """List or write papers' tables and figures, with our numbers.

    With ITEM, also print the table."""
    from calque.experiments.report import paper as papers
    from calque.experiments.report.report import as_text

    if not papers.COMMITTED.is_dir():
        raise BadInput("the installed package lacks the papers' records; clone Calque's repository")
    if paper is None:
        for line in papers.listing():
            typer.echo(_filled(line, 2 + len(line) - len(line.lstrip())))
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
