"""The command line; commands import slow libraries such as torch only when needed."""

import errno
import gc
import io
import os
import re
import signal
import sys
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from calque import __version__
from calque.derive.errors import BadInput, NoFile, printable, unknown
from calque.derive.files import DISK
from calque.experiments.commands import (
    aer,
    align,
    bench,
    checklist,
    compare,
    data,
    docs,
    embeddings,
    export,
    intervene,
    look,
    new,
    paper,
    runs,
    show,
    study,
    train_aligner,
)
from calque.experiments.run.signals import RESUMES, Ended, stoppable

NO_MEMORY = re.compile(r"DefaultCPUAllocator: |Storage size calculation overflowed")
"""The messages of torch's RuntimeErrors that mean it ran out of memory."""
NO_FOLDER = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
"""The system error numbers that mean a path is unusable."""
UsageError: Any = typer.BadParameter.__base__  # newer typer versions bundle their own click
LONGEST = 2_000  # maximum characters of an error message, which may quote long input
ALLOCATIONS = 100_000  # objects between garbage collections: imports create many and free few


class Commands(TyperGroup):
    """The top-level command group. Reports each error that is not a bug on a single line.

    Exit codes: 2 for errors that the user can fix, such as bad input or a full disk, 1 for a run that cannot
    continue, and 128 plus a signal's number.
    """

    def make_context(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().make_context(*args, **extra)
        except UsageError as error:
            _refuse_usage(error)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            _fail(f"{unknown('command', args[0], self.commands)}; see `{ctx.command_path} --help`")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, (_, example) in GROUPS.items():
            shown = [
                (name, one)
                for name, one in self.commands.items()
                if getattr(one, "rich_help_panel", "") == title
            ]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(66)) for name, one in shown])
                formatter.write_text(f"Example: {example}")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not all(args):
            _fail("an argument is empty; expected a name or a path")
        for word in (*args, *(value for name, value in os.environ.items() if name.startswith("CALQUE_"))):
            _check_text(word)
        with suppress(FileNotFoundError):  # if the folder was removed, commands that need it report that
            _check_text(str(Path.cwd()))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with stoppable() as stopped:
                return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise  # before the RuntimeErrors below, which import torch
        except UsageError as error:
            _refuse_usage(error)
        except NoFile as error:
            from calque.experiments.data.recipe import remedy

            _fail("; ".join(filter(None, [str(error), remedy(error.path)])))
        except BadInput as error:
            _fail(*error.messages, code=error.exit_code)
        except UnicodeEncodeError as error:
            for line in error.object.splitlines():  # one line contains the file name
                _check_text(line)
            raise
        except OSError as error:
            if reason := _of_system(error):
                _fail(reason)
            raise
        except MemoryError as error:
            _fail(f"not enough memory: {error}", code=1)
        except BrokenExecutor as error:
            if stopped.is_set():  # the interrupt killed the workers too
                _stop("interrupted", error, 130)
            _fail("a worker process was killed, probably for lack of memory: use fewer --jobs", code=1)
        except (ArithmeticError, RuntimeError) as error:
            if reason := _of_run(error):
                _fail(reason, code=1)
            raise
        except KeyboardInterrupt as error:
            _stop("interrupted", error, 130)
        except Ended as ended:
            _stop(f"stopped by {signal.Signals(ended.number).name}", ended, 128 + ended.number)


def _of_system(error: OSError) -> str:
    """Return the message for a system error, or "" if it indicates a bug."""
    reason = os.strerror(error.errno or 0)
    if error.errno in NO_FOLDER:
        return f"{error.filename or 'a path'}: {reason}; expected a usable path"
    if error.errno == errno.ENOENT and error.filename:
        return f"{error.filename}: {reason}; it was removed while in use"
    if error.errno in DISK:
        return f"{error.filename or 'a file'}: {reason}; no half-written files remain"
    return ""


def _of_run(error: Exception) -> str:
    """Return the reason why a run cannot continue, or "" if the error indicates a bug."""
    from torch.cuda import OutOfMemoryError

    from calque.pretrain.distributed import Lost
    from calque.pretrain.train import NonFinite

    if isinstance(error, NonFinite):
        return f"stopped before an update with non-finite numbers: {error}"
    if isinstance(error, OutOfMemoryError):
        ways = ", or ".join(["with fewer --jobs", *getattr(error, "__notes__", ())])
        return f"the GPU ran out of memory: run {ways}; {RESUMES}"
    if isinstance(error, Lost):
        return f"{error}; {RESUMES}"
    return f"not enough memory: {error}" if NO_MEMORY.search(str(error)) else ""


def _refuse_usage(error: Any) -> NoReturn:
    """Report an invalid command in one line and exit; a command group without arguments prints its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        raise error
    command = error.ctx.command_path if error.ctx else "calque"
    _fail(f"{error.format_message().rstrip('.')}; see `{command} --help`")


def _check_text(word: str) -> None:
    """Exit if an argument or path is not valid Unicode, as reports and manifests must be."""
    try:
        word.encode()
        return
    except UnicodeEncodeError:
        name = os.fsencode(word)
    try:
        lost = name.decode()
    except UnicodeDecodeError:
        _fail(f"{name!r} is not UTF-8; expected file and folder names in UTF-8")
    locale = f"the locale's encoding ({sys.getfilesystemencoding()})"
    _fail(f"{lost!r} contains characters that {locale} cannot represent; set LC_ALL=C.UTF-8")


def _stop(how: str, stop: BaseException, code: int) -> NoReturn:
    _say("; ".join([how, *getattr(stop, "__notes__", ())]))
    raise SystemExit(code)


def _fail(*mistakes: str, code: int = 2) -> NoReturn:
    for mistake in dict.fromkeys(mistakes):
        _say(f"error: {mistake}")
    raise SystemExit(code)


def _say(line: str) -> None:
    line = printable(" ".join(line.split()))  # the line may quote arbitrary input
    if len(line) > LONGEST:
        line = f"{line[:LONGEST]}... ({len(line):,} characters)"
    typer.echo(f"calque: {line}", err=True)


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


Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit."),
]


@app.callback()
def options(version: Version = False) -> None:
    """Study cross-lingual transfer between natural languages, or from one to languages derived from it."""


GROUPS: dict[str, tuple[tuple[Any, ...], str]] = {
    "Languages": ((show.show, study.derive, new.new), 'calque show "Sara ate two apples ." trans.inv'),
    "Studies": (
        (study.studies, study.plan, study.run, study.pretrain, study.evaluate, study.report, study.cell),
        "calque run pocket",
    ),
    "Results": (
        (runs.runs, compare.compare, export.export, checklist.checklist, study.null, paper.paper),
        "calque compare runs/pocket/report experiments/records/pocket",
    ),
    "Models": (
        (look.look, intervene.intervene, embeddings.embeddings),
        "calque look runs/shared/trans.inv/MLM/seed-0-*/checkpoint",
    ),
    "Word alignment": (
        (align.align, train_aligner.train_aligner, aer.aer),
        "calque align words.en words.fr --out links",
    ),
    "Data and this checkout": ((bench.bench, docs.docs), "calque data plan align_mlm"),
}
"""The commands in each section of the help, with an example."""
for name, (functions, _) in GROUPS.items():
    for function in functions:
        app.command(rich_help_panel=name)(function)
app.add_typer(data.app, name="data", rich_help_panel="Data and this checkout")


def _name_of(info: Any) -> str:
    return str(info.name or info.callback.__name__.replace("_", "-"))


def open_streams() -> None:
    """Make the standard streams usable in any environment.

    A closed stream is replaced by the null device, so that no file opened later takes its descriptor. Output
    is UTF-8 except on a terminal, and characters that an encoding lacks are escaped.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor
    for name, number in (("stdout", 1), ("stderr", 2)):
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace"))
        elif isinstance(stream, io.TextIOWrapper):
            data = name == "stdout" and not stream.isatty()
            stream.reconfigure(encoding="utf-8" if data else None, errors="backslashreplace")


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    gc.set_threshold(ALLOCATIONS)
    open_streams()
    named = [info for info in app.registered_commands if sys.argv[1:] and _name_of(info) == sys.argv[1]]
    if named:  # typer takes a millisecond or two to inspect the options of each command
        app.registered_commands, app.registered_groups = named, []
    app(prog_name="calque")
