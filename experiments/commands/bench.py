"""`calque bench`: speed next to the usual alternatives, on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, unknown
from calque.experiments.commands.options import check_out

GPU = "gpu"  # the benchmark that is run only by name: it needs a card
NAMES = ("step", "continued", "mask", "finetuning", "aligners", "derive", GPU)
LIBRARIES = dict.fromkeys(("step", "continued", "finetuning", GPU), "accelerate") | {"aligners": "simalign"}
BOTH = ("CALQUE_DATA", "CALQUE_ENCODER")
NEEDED = {"derive": BOTH[:1], "continued": BOTH, "finetuning": BOTH, "aligners": BOTH}
"""The environment variables that name the real text and the encoder that a benchmark needs."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help=", ".join(NAMES))] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each side, in turns.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    out: Annotated[Path | None, typer.Option(dir_okay=False, help="A JSON file for every round.")] = None,
) -> None:
    """Measure Calque and the usual alternative in turns: the named benchmarks, or all that need no GPU.

    `derive` needs CALQUE_DATA; `continued`, `finetuning` and `aligners` need CALQUE_DATA and CALQUE_ENCODER.
    """
    if wrong := [name for name in names or () if name not in NAMES]:
        raise BadInput([unknown("benchmark", name, NAMES) for name in wrong])
    chosen = names or [name for name in NAMES if name != GPU]
    if out:
        check_out(out, [])
    import torch
    from transformers.utils import logging

    if GPU in chosen:
        check_card()
    for name in chosen:
        if (library := LIBRARIES.get(name)) and not find_spec(library):
            raise BadInput(f"the benchmark {name} needs {library}: pip install 'calque[bench]'")
    from calque.experiments.bench import alignment, derive, finetuning, gpu, training
    from calque.experiments.bench.harness import Comparison, folder_of, report, write
    from calque.experiments.runs import COMMITTED, provenance

    command = f"calque bench {' '.join(chosen)} --rounds {rounds} --threads {threads}"
    about = provenance(command)  # before anything is written: a new record makes the checkout differ from its commit
    if out and out.resolve().is_relative_to(COMMITTED) and about.get("commit", "").endswith("dirty"):
        raise BadInput(f"a record comes from a commit, and the checkout is {about['commit']}; commit it first", out)
    for variable in dict.fromkeys(folder for name in chosen for folder in NEEDED.get(name, ())):
        folder_of(variable)
    benches = {
        "step": training.step,
        "continued": training.continued,
        "mask": training.mask,
        "finetuning": finetuning.finetuning,
        "aligners": alignment.aligners,
        "derive": derive.derive,
        GPU: gpu.pretraining,
    }
    torch.set_num_threads(threads)
    logging.set_verbosity_error()  # otherwise it lists a model's missing weights each time
    logging.disable_progress_bar()
    measured: dict[str, list[Comparison]] = {}
    try:
        for name in chosen:
            measured[name] = []
            for comparison in benches[name](rounds):
                measured[name].append(comparison)
                if out:  # after each: some take half an hour
                    write(measured, {**about, "threads": threads}, out)
    finally:
        if measured:
            report(measured)


def check_card() -> None:
    """BadInput unless torch finds one GPU: of several, transformers' Trainer would use all."""
    from torch.cuda import device_count

    if not (found := device_count()):
        raise BadInput("this benchmark needs a GPU, and torch finds none")
    if found > 1:
        raise BadInput(f"this benchmark measures one GPU, and there are {found}: choose one with CUDA_VISIBLE_DEVICES")
