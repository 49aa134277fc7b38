"""`calque bench`: speed compared with other libraries' on this machine."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, unknown
from calque.experiments.commands.options import check_out

DATA, ENCODER = "CALQUE_DATA", "CALQUE_ENCODER"
NEEDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "step": ("accelerate", ()),
    "mask": ("", ()),
    "finetuning": ("accelerate", (DATA, ENCODER)),
    "aligners": ("simalign", (DATA, ENCODER)),
    "derive": ("", (DATA,)),
}
"""The library that each benchmark needs, and the environment variables that name its data and encoder."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help=", ".join(NEEDS))] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each library, taken in turns.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Torch threads.")] = 1,
    out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="JSON file for the rates in every round.")
    ] = None,
) -> None:
    """Compare Calque's speed with that of other libraries.

    `derive` needs CALQUE_DATA; `finetuning` and `aligners` need CALQUE_DATA and CALQUE_ENCODER.
    """
    if wrong := [name for name in names or () if name not in NEEDS]:
        raise BadInput([unknown("benchmark", name, tuple(NEEDS)) for name in wrong])
    chosen = names or list(NEEDS)
    if out:
        check_out(out, [])
    from calque.experiments.bench.harness import Comparison, folder_of, write

    for name in chosen:
        library, variables = NEEDS[name]
        if library and not find_spec(library):
            raise BadInput(f"the benchmark {name} needs {library}: pip install 'calque[bench]'")
        for variable in variables:
            folder_of(variable)
    import torch
    from transformers.utils import logging

    from calque.experiments.bench import alignment, derive, finetuning, training
    from calque.experiments.report.folder import COMMITTED, provenance

    command = f"calque bench {' '.join(chosen)} --rounds {rounds} --threads {threads}"
    about = provenance(command)  # before the output makes the checkout dirty
    if out and out.resolve().is_relative_to(COMMITTED) and about.get("commit", "").endswith("dirty"):
        raise BadInput(
            f"a record must name a commit, but the checkout has uncommitted changes ({about['commit']})", out
        )
    benches = {
        "step": training.step,
        "mask": training.mask,
        "finetuning": finetuning.finetuning,
        "aligners": alignment.aligners,
        "derive": derive.derive,
    }
    torch.set_num_threads(threads)
    logging.set_verbosity_error()  # otherwise transformers lists a model's missing weights at each load
    logging.disable_progress_bar()
    measured: dict[str, list[Comparison]] = {}
    for name in chosen:
        measured[name] = benches[name](rounds)
        for row in measured[name]:
            typer.echo(f"{name}: {row.what}\n  {row.cells[2]}, {row.ratio} times as fast as {row.against}")
        if out:  # after each benchmark, since some take half an hour
            write(measured, {**about, "threads": threads}, out)
