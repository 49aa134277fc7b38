"""`calque bench`: comparing Calque's speed with transformers' on this machine."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import check_out


def bench(
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each library, taken in turns.")] = 5,
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
