"""The only command line. Torch and its like are imported by the commands that need them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.errors import BadInput

if TYPE_CHECKING:
    from experiments.places import Places
    from experiments.stages import Stage

app = typer.Typer(
    name="calque",
    help="A laboratory for cross-lingual transfer: languages made out of a language, one difference at a time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Exp = Annotated[str, typer.Argument(metavar="EXP", help="The study: `calque studies` lists them.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in train.steps=100; repeatable."),
]
Root = Annotated[Path, typer.Option("--runs", help="The folder that results go to.")]
Jobs = Annotated[int, typer.Option(min=1, help="Cells computed side by side; 0 of them changes a result.")]
Change = Annotated[
    bool, typer.Option("--allow-change", help="Resume a run that was begun with other threads, processes or torch.")
]
RUNS, ALL_CORES = Path("runs"), os.cpu_count() or 1


@app.command()
def show(
    text: str,
    languages: Annotated[
        list[str], typer.Argument(metavar="LANGUAGE...", help="As in trans.inv: the last part is applied first.")
    ],
) -> None:
    """Print a sentence in each derived language, and where its words went."""
    from derive.preview import side_by_side
    from derive.readers.text import split_sentences
    from derive.sentence import Sentence
    from experiments.names import transform

    transforms = [transform(language) for language in languages]
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("no word in the text; expected a sentence")
    for number, sentence in enumerate(sentences):
        typer.echo(side_by_side(sentence, transforms, number))


@app.command()
def studies() -> None:
    """List the studies, with their scales."""
    from experiments import names

    for name in names.STUDIES:
        typer.echo(f"{name:<18}{names.study_doc(name)}")


@app.command()
def derive(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = ALL_CORES) -> None:
    """Write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""
    places = _open(exp, settings, runs)
    _derive(places, jobs)
    typer.echo(f"{places.data}: read preview.txt")


@app.command()
def pretrain(
    exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = ALL_CORES, allow_change: Change = False
) -> None:
    """Pretrain every model of a study; under torchrun, all processes share each model's batches."""
    _cells(_open(exp, settings, runs), ["pretrain"], jobs, allow_change)


@app.command()
def evaluate(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = ALL_CORES) -> None:
    """Fine-tune and score every model of a study, and measure its alignment."""
    _cells(_open(exp, settings, runs), ["pretrain", "evaluate"], jobs)


@app.command()
def report(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = ALL_CORES) -> None:
    """Make tables, figures, claims and report.html from a study's records."""
    from experiments.summary import summarise

    typer.echo(summarise(_open(exp, settings, runs)))


@app.command()
def run(
    exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = ALL_CORES, allow_change: Change = False
) -> None:
    """Do all of a study: derive, pretrain, evaluate, report. What is finished is not done again."""
    from experiments.summary import summarise

    places = _open(exp, settings, runs)
    _cells(places, ["pretrain", "evaluate"], jobs, allow_change)
    typer.echo(summarise(places))


@app.command()
def plan(exp: Exp, settings: Set = None, jobs: Jobs = ALL_CORES) -> None:
    """List what a study would run, with parameters, operations, memory and time on this machine; run nothing."""
    from experiments.plan import describe

    typer.echo(describe(_open(exp, settings, RUNS).study, jobs))


def _open(exp: str, settings: list[str] | None, runs: Path) -> Places:
    from experiments.names import study
    from experiments.override import override
    from experiments.places import Places

    return Places(runs, override(study(exp), settings or []))


def _derive(places: Places, jobs: int) -> None:
    from experiments.progress import board
    from experiments.stages import derive as derive_stage

    with board() as drawn:
        derive_stage(places, jobs, drawn.report)


def _cells(places: Places, stages: list[Stage], jobs: int, allow_change: bool = False) -> None:
    from experiments.progress import board
    from experiments.stages import compute

    _derive(places, jobs)
    with board() as drawn:
        compute(places, stages, jobs, drawn.report, allow_change)


def main() -> None:
    """Run a command; what a user got wrong is one line and exit code 2."""
    try:
        app(standalone_mode=True)
    except BadInput as error:
        print(f"calque: {error}", file=sys.stderr)
        sys.exit(2)
