"""The commands for a checkout of Calque: `calque bench` and `docs`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import check_out


def bench(
    rounds: Annotated[int, typer.Option(min=1, help="Measurements per library, taken alternately.")] = 5,
    out: Annotated[Path | None, typer.Option(help="JSON file for the rates in every round.")] = None,
) -> None:
    """Compare the speed of pretraining and masking with that of transformers."""
    if out:
        check_out(out, [])
    if not find_spec("accelerate"):
        raise BadInput("`calque bench` needs accelerate: pip install 'calque[bench]'")
    import torch

    from calque.experiments import bench as benchmarks
    from calque.experiments.report.folder import provenance

    torch.set_num_threads(1)
    rows = [*benchmarks.step(rounds), *benchmarks.mask(rounds)]
    for row in rows:
        what, against, rate, ratio = row.cells
        typer.echo(f"{what}\n  {rate}, {ratio} times as fast as {against}")
    if out:
        benchmarks.write(rows, provenance(f"calque bench --rounds {rounds}"), out)


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
        typer.echo(f"{page}: {'differs from its records' if check else 'updated'}")
    if check and different:
        raise typer.Exit(1)
