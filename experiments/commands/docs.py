"""`calque docs`: numbers and tables in the documentation."""

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput


def docs(
    context: typer.Context,
    root: Annotated[Path, typer.Argument(file_okay=False, help="The checkout to update.")] = Path(),
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a page is out of date.")
    ] = False,
) -> None:
    """Update computed numbers and tables in the README and docs."""
    from calque.experiments.docs import reference, update

    if not (root / "README.md").is_file():
        raise BadInput("no README.md here; expected a checkout of Calque", root)
    commands = {"commands": lambda: reference(context.find_root().command)}
    different = update(root, not check, commands)
    for page in different:
        typer.echo(f"{page}: {'differs from its records' if check else 'filled'}")
    if check and different:
        raise typer.Exit(1)
