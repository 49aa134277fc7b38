"""The only command line. Torch and its like are imported by the commands that need them."""

from __future__ import annotations

import errno
import os
from concurrent.futures import BrokenExecutor
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from derive.errors import BadInput
from experiments.commands import (
    aer,
    align,
    derive,
    evaluate,
    grammar,
    parser,
    plan,
    pretrain,
    report,
    run,
    show,
    studies,
)

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
        except MemoryError as error:
            _leave(f"not enough memory: {error}", 1)
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
    help="A laboratory for cross-lingual transfer between a language and synthetic ones that are derived from it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    show.show,
    studies.studies,
    derive.derive,
    pretrain.pretrain,
    evaluate.evaluate,
    report.report,
    run.run,
    plan.plan,
    align.align,
    aer.aer,
):
    app.command()(command)
app.add_typer(grammar.app, name="grammar")
app.add_typer(parser.app, name="parser")


def main() -> None:
    """Run a command."""
    app()
