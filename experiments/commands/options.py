"""Arguments and options that commands share, and what the commands on studies do with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.digests import remembering
from derive.errors import BadInput
from derive.readers.compressed import COMPRESSIONS
from experiments.places import CACHE

if TYPE_CHECKING:
    from experiments.step import Stage
    from experiments.study import Study
    from experiments.sweep import Sweep

STAGES: tuple[Stage, ...] = ("derive", "pretrain", "evaluate")
Exp = Annotated[str, typer.Argument(metavar="EXP", help="A study that `calque studies` lists, or my_study.py.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value, as in train.steps=100; repeatable."),
]
Sweeps = Annotated[
    list[str] | None,
    typer.Option("--sweep", metavar="KEY=V1,V2", help="Try several values of a setting; repeatable."),
]
Sentences = Annotated[Path, typer.Argument(help="Sentences, one a line, words separated by spaces.")]
Translations = Annotated[Path, typer.Argument(help="Their translations, line by line.")]
FromOne = Annotated[
    bool | None,
    typer.Option(
        "--from-one/--from-zero", help="Gold links in Pharaoh's format count from 1, as in talp files, or from 0."
    ),
]
LinksFromOne = Annotated[
    bool | None, typer.Option("--links-from-one/--links-from-zero", help="The links count from 1, or from 0.")
]
MOST_JOBS = 1_024
Root = Annotated[Path, typer.Option("--runs", file_okay=False, help="The folder for results.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_JOBS,
        help="Steps computed in parallel; results are unaffected. Default: as many as fit cores and a GPU's memory.",
    ),
]
Change = Annotated[bool, typer.Option("--allow-change", help="Resume despite a changed environment.")]


def check_out(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse the name of a text file to write that is an input, names no file, or says that it is compressed.

    Raises:
        BadInput: naming the file.
    """
    if any(out.exists() and out.samefile(path) for path in inputs if path is not None):
        raise BadInput("is an input, which would be overwritten", out)
    if out.exists() and not out.is_file():
        raise BadInput("is a folder or a device; expected the name of a file to write", out)
    if out.suffix in COMPRESSIONS:
        raise BadInput(f"named {out.suffix}, and what is written is not compressed; expected another name", out)


def opened(exp: str, settings: list[str] | None) -> Study:
    """The study of a name, with values changed.

    Raises:
        BadInput: there is none, or a setting is a mistake.
    """
    from experiments.names import study
    from experiments.override import override

    return override(study(exp), settings or [])


def varied(exp: str, settings: list[str] | None, sweeps: list[str] | None) -> Study | Sweep:
    """The study of a name, with values changed, or a sweep of it.

    Raises:
        BadInput: as `opened`, or a value of the sweep is a mistake.
    """
    from experiments.sweep import Sweep

    study = opened(exp, settings)
    return Sweep.read(study, sweeps) if sweeps else study


def compute_stages(
    study: Study | Sweep, runs: Path, stages: Sequence[Stage], jobs: int | None, allow_change: bool = False
) -> None:
    """Compute what is not finished of some stages of a study."""
    from experiments.progress import board
    from experiments.schedule import compute

    with remembering(runs / CACHE), board() as drawn:
        compute(study.in_stages(runs, stages), study.home(runs), jobs, drawn.report, allow_change)


def write_report(study: Study | Sweep, runs: Path, settings: list[str] | None) -> None:
    """Write the report of a study whose steps are finished, and print what it says.

    A study with values changed by `--set` has a report of its own.

    Raises:
        BadInput: naming the steps that are not finished.
    """
    from experiments.schedule import first_process
    from experiments.summary import summarise
    from experiments.sweep import Sweep, summarise_sweep

    if not first_process():
        return
    with remembering(runs / CACHE):
        if unfinished := study.unfinished(runs):
            named = [step.title for step in unfinished[:3]] + [f"{len(unfinished) - 3} more"] * (len(unfinished) > 3)
            raise BadInput(f"not computed yet: {', '.join(named)}; `calque run` does it", study.home(runs))
        folder = study.report(runs, changed=bool(settings))
        if isinstance(study, Sweep):
            typer.echo(summarise_sweep(study, runs, folder))
        else:
            typer.echo(summarise(study, runs, folder))
