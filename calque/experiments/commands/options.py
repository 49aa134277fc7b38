"""Shared arguments and options."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.derive.readers.lines import COMPRESSIONS

Own = Annotated[
    str | None,
    typer.Option(
        "--study", metavar="STUDY", help="A study, such as my_study.py, that defines its own transforms."
    ),
]
Parser = Annotated[
    Path | None,
    typer.Option(
        envvar="CALQUE_STANZA", help="A folder of Stanza models, for transforms that need syntax trees."
    ),
]
Root = Annotated[Path, typer.Option("--runs", file_okay=False, help="The results folder.")]


def check_out(out: Path, inputs: Iterable[Path]) -> None:
    """Raise BadInput if an output file is an input, cannot be written, or has a compressed file's suffix."""
    if any(out.exists() and out.samefile(path) for path in inputs):
        raise BadInput("the output would overwrite an input; choose another name", out)
    if out.exists() and not out.is_file():
        raise BadInput("is a folder or a device; expected a file to write", out)
    if out.suffix in COMPRESSIONS:
        raise BadInput(f"ends in {out.suffix}, but the output is not compressed; choose another name", out)
    try:
        TemporaryFile(dir=next(above for above in out.absolute().parents if above.exists())).close()
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", out) from None
