"""The command line; commands import slow libraries such as torch only when needed."""

import gc
import io
import os
import re
import signal
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from calque import __version__
from calque.derive.errors import BadInput, NoFile, printable
from calque.experiments.commands import data, models, study
from calque.experiments.commands.new import new
from calque.experiments.run.signals import RESUMES, Ended, stoppable

NO_MEMORY = "DefaultCPUAllocator: ", "Storage size calculation overflowed"  # torch's messages
UsageError: Any = typer.BadParameter.__base__  # newer typer versions bundle their own click
ALLOCATIONS = 100_000  # new objects per garbage collection; imports create many objects and free few


class Commands(TyperGroup):
    """The top-level command group, which reports any error other than a bug on a single line. Exit codes: 2
    for errors that the user can fix, 1 for a run that cannot continue, and 128 plus a signal's number."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().make_context(*args, **extra)
        except UsageError as error:
            _refuse_usage(error)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not all(args):
            _fail("an argument is empty; expected a name or a path")
        for word in (*args, *(value for name, value in os.environ.items() if name.startswith("CALQUE_"))):
            if re.search("[\ud800-\udfff]", word):  # stands for a byte that is not UTF-8
                expected = "expected names in UTF-8 and a locale that can represent them; set LC_ALL=C.UTF-8"
                _fail(f"{os.fsencode(word)!r}: {expected}")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with stoppable():
                return super().invoke(ctx)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except UsageError as error:
            _refuse_usage(error)
        except (KeyboardInterrupt, Ended) as stop:
            _stop(stop)
        except Exception as error:
            code, *reasons = _explain(error)
            if not any(reasons):  # a bug
                raise
            _fail(*reasons, code=code)


def _explain(error: Exception) -> tuple[Any, ...]:
    """Return the exit code and the messages for an error; a bug has no messages."""
    if isinstance(error, NoFile):
        from calque.experiments.data.recipe import recipe_of

        recipe = recipe_of(Path(error.path or ""))
        return 2, f"{error}; `calque data fetch {recipe}` downloads it" if recipe else str(error)
    if isinstance(error, BadInput):
        return 2, *error.messages
    if isinstance(error, OSError) and error.errno:
        return 2, f"{error.filename or 'a file'}: {os.strerror(error.errno)}"
    if isinstance(error, BrokenExecutor):
        return 1, "a worker process was killed, probably for lack of memory: use fewer --jobs"
    text = str(error)
    if isinstance(error, MemoryError) or any(message in text for message in NO_MEMORY):
        return 1, f"not enough memory: {text}"
    return 1, _of_run(error) if isinstance(error, ArithmeticError | RuntimeError) else ""


def _of_run(error: Exception) -> str:
    from torch.cuda import OutOfMemoryError

    from calque.pretrain.distributed import Lost
    from calque.pretrain.train import NonFinite

    if isinstance(error, NonFinite):
        return f"training stopped before an update with non-finite numbers: {error}"
    if isinstance(error, OutOfMemoryError):
        ways = ", or ".join(["with fewer --jobs", *getattr(error, "__notes__", ())])
        return f"the GPU ran out of memory: run {ways}; {RESUMES}"
    return f"{error}; {RESUMES}" if isinstance(error, Lost) else ""


def _refuse_usage(error: Any) -> NoReturn:
    """Report an invalid command in one line and exit; a command group without arguments prints its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        raise error
    command = error.ctx.command_path if error.ctx else "calque"
    _fail(f"{error.format_message().rstrip('.')} (see `{command} --help`)")


def _stop(stop: BaseException) -> NoReturn:
    (number,) = stop.args if isinstance(stop, Ended) else (signal.SIGINT,)
    how = "interrupted" if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"
    _say(f"{how}; {RESUMES}")
    raise SystemExit(128 + number)


def _fail(*mistakes: str, code: int = 2) -> NoReturn:
    for mistake in dict.fromkeys(mistakes):
        _say(f"error: {mistake}")
    raise SystemExit(code)


def _say(line: str) -> None:
    typer.echo(f"calque: {printable(' '.join(line.split()))}", err=True)  # a line may quote arbitrary input


app = typer.Typer(
    name="calque",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"calque {__version__}")
        raise typer.Exit


Version = typer.Option(
    "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
)


@app.callback()
def options(version: Annotated[bool, Version] = False) -> None:
    """Study cross-lingual transfer between languages, natural or derived from a natural one."""


COMMANDS: dict[str, Callable[..., None]] = {
    "show": study.show,
    "derive": study.derive,
    "new": new,
    "studies": study.studies,
    "plan": study.plan,
    "run": study.run,
    "pretrain": study.pretrain,
    "evaluate": study.evaluate,
    "report": study.report,
    "cell": study.cell,
    "paper": study.paper,
    "look": models.look,
    "align": models.align,
    "train-aligner": models.train_aligner,
    "aer": models.aer,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(data.app, name="data")


def main() -> None:
    """Run the command in `sys.argv` and exit with its code. Output is UTF-8 except on a terminal, and
    characters that an encoding cannot represent are escaped."""
    gc.set_threshold(ALLOCATIONS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            data = stream is sys.stdout and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if data else None, errors="backslashreplace")
    app(prog_name="calque")
