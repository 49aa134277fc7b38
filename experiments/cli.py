"""The only command line. Torch and its like are imported by the commands that need them."""

from __future__ import annotations

import errno
import os
from collections import Counter
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from derive.errors import BadInput
from experiments.commands import aer, align, grammar
from experiments.commands import parser as parser_commands

if TYPE_CHECKING:
    from experiments.places import Places
    from experiments.stages import Stage
    from experiments.word_alignment import WordAlignment


REFUSED = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG)
"""Errors of the system that are no mistake of this program: no room, or no right to write."""


class Commands(TyperGroup):
    """The commands; what stops one that is no mistake of this program is told in one line.

    Exit codes: 2 for what a user got wrong, 1 for a run that cannot go on, 130 for an interrupt.
    """

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as error:
            _leave(str(error), 2)
        except ArithmeticError as error:
            from pretrain.train import NonFinite

            if not isinstance(error, NonFinite):
                raise
            _leave(f"stopped before an update with numbers that are not finite: {error}", 1)
        except OSError as error:
            if error.errno not in REFUSED:
                raise
            _leave(f"{error.filename or 'a file'}: {os.strerror(error.errno)}; nothing is left half-written", 1)
        except BrokenExecutor:
            _leave("a worker process was killed, perhaps for want of memory: run with fewer --jobs", 1)
        except KeyboardInterrupt:
            _leave("interrupted; the same command goes on from what is finished", 130)


def _leave(line: str, code: int) -> NoReturn:
    typer.echo(f"calque: {' '.join(line.split())}", err=True)
    raise SystemExit(code)


app = typer.Typer(
    name="calque",
    cls=Commands,
    help="A laboratory for cross-lingual transfer: languages made out of a language, one difference at a time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(grammar.app, name="grammar")
app.add_typer(parser_commands.app, name="parser")
app.command()(align.align)
app.command()(aer.aer)

RUNS = Path("runs")
Exp = Annotated[str, typer.Argument(metavar="EXP", help="The study: `calque studies` lists them.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in train.steps=100; repeatable."),
]
Root = Annotated[Path, typer.Option("--runs", file_okay=False, help="The folder that results go to.")]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Models side by side, which changes no result: as many as fit the cores, one on a GPU."),
]
Change = Annotated[
    bool, typer.Option("--allow-change", help="Resume what other threads, processes or another torch began.")
]
Languages = Annotated[
    list[str], typer.Argument(metavar="LANGUAGE...", help="As in trans.inv: the last part is applied first.")
]


@app.command()
def show(
    text: str,
    languages: Languages,
    parser: Annotated[
        Path | None,
        typer.Option(envvar="CALQUE_STANZA", help="A folder of Stanza models, for languages with another word order."),
    ] = None,
    runs: Root = RUNS,
) -> None:
    """Print a sentence in each derived language, and where its words went."""
    from derive.parser import StanzaParser
    from derive.preview import side_by_side
    from derive.readers.text import split_sentences
    from derive.sentence import Sentence
    from experiments.names import transform

    transforms = [transform(language) for language in languages]
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("no word in the text; expected a sentence")
    if any(one.needs_trees for one in transforms):
        if parser is None:
            raise BadInput("another word order needs a tree: name a folder of Stanza models with --parser")
        failed: Counter[str] = Counter()
        sentences = StanzaParser(parser).parse([sentence.words for sentence in sentences], failed)
        for why, count in failed.items():
            typer.echo(f"calque: {count} of {len(sentences)} without a tree, so in its own order: {why}", err=True)
        transforms = [one.ready(runs / "cache") for one in transforms]
    for number, sentence in enumerate(sentences):
        typer.echo(side_by_side(sentence, transforms, number))


@app.command()
def studies() -> None:
    """List the studies, each with what it says of itself."""
    from experiments import names

    for name in names.STUDIES:
        typer.echo(f"{name:<21}{names.study_doc(name)}")


@app.command()
def derive(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None) -> None:
    """Write a study's languages: corpora, vocabulary, dictionaries, task data, preview."""
    from experiments.account import of_languages

    places = _open(exp, settings, runs)
    _compute(places, [], jobs)
    for line in of_languages(places.data):
        typer.echo(line)
    typer.echo(f"{places.data}: read preview.txt")


@app.command()
def pretrain(
    exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None, allow_change: Change = False
) -> None:
    """Pretrain every model of a study; under torchrun, all processes share each model's batches."""
    _compute(_open(exp, settings, runs), ["pretrain"], jobs, allow_change)


@app.command()
def evaluate(
    exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None, allow_change: Change = False
) -> None:
    """Pretrain what is not, fine-tune and score every model of a study, and measure its alignment."""
    _compute(_open(exp, settings, runs), ["pretrain", "evaluate"], jobs, allow_change)


@app.command()
def report(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None) -> None:
    """Make tables, figures, claims and report.html from the records of a study, computing what is missing."""
    places = _open(exp, settings, runs)
    _compute(places, ["pretrain", "evaluate"], jobs)
    _summarise(places)


@app.command()
def run(exp: Exp, settings: Set = None, runs: Root = RUNS, jobs: Jobs = None, allow_change: Change = False) -> None:
    """Do all of a study: derive, pretrain, evaluate, report. What is finished is not done again."""
    from experiments.names import any_study
    from experiments.word_alignment import WordAlignment

    if isinstance(made := any_study(exp), WordAlignment):
        _align_words(made, settings, runs, jobs, allow_change)
        return
    places = _open(exp, settings, runs)
    _compute(places, ["pretrain", "evaluate"], jobs, allow_change)
    _summarise(places)


@app.command()
def plan(exp: Exp, settings: Set = None, jobs: Jobs = None) -> None:
    """List what a study would run, with parameters, operations, memory and time on this machine; run nothing."""
    from experiments.plan import describe

    typer.echo(describe(_open(exp, settings, RUNS).study, jobs))


def _open(exp: str, settings: list[str] | None, runs: Path) -> Places:
    from experiments.names import study
    from experiments.override import override
    from experiments.places import Places

    return Places(runs, override(study(exp), settings or []))


def _align_words(study: WordAlignment, settings: list[str] | None, runs: Path, jobs: int | None, change: bool) -> None:
    from experiments.link_stages import compute
    from experiments.link_summary import summarise
    from experiments.override import override
    from experiments.progress import board
    from experiments.word_alignment import LinkPlaces

    places = LinkPlaces(runs, override(study, settings or []))
    with board() as drawn:
        folders = compute(places, jobs, drawn.report, change)
    typer.echo(summarise(places, folders))


def _compute(places: Places, stages: list[Stage], jobs: int | None, allow_change: bool = False) -> None:
    from experiments.progress import board
    from experiments.stages import compute, derive

    with board() as drawn:
        derive(places, jobs, drawn.report)
        compute(places, stages, jobs, drawn.report, allow_change)


def _summarise(places: Places) -> None:
    from experiments.stages import first_process
    from experiments.summary import summarise

    if first_process():
        typer.echo(summarise(places))


def main() -> None:
    """Run a command."""
    app()
