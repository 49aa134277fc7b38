"""`calque bench`: speed next to the usual alternatives, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, unknown

GPU = "gpu"  # the benchmark that is run only by name: it needs a card
NAMES = ("step", "continued", "mask", "finetuning", "aligners", "derive", GPU)


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help=", ".join(NAMES))] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements of each side, in turns.")] = 5,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    out: Annotated[Path | None, typer.Option(dir_okay=False, help="A JSON file for every round.")] = None,
) -> None:
    """Measure Calque and the usual alternative in turns: the named benchmarks, or all that need no GPU."""
    if wrong := [name for name in names or () if name not in NAMES]:
        raise BadInput([unknown("benchmark", name, NAMES) for name in wrong])
    import torch
    from transformers.utils import logging

    from calque.experiments.bench import alignment, derive, finetuning, gpu, training
    from calque.experiments.bench.harness import report, write
    from calque.experiments.runs import provenance

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
    chosen = names or [name for name in NAMES if name != GPU]
    command = f"calque bench {' '.join(chosen)} --rounds {rounds} --threads {threads}"
    measured = {}
    for name in chosen:
        try:
            measured[name] = benches[name](rounds)
        except ImportError:
            raise BadInput(f"the benchmark {name} needs more libraries: pip install 'calque[bench]'") from None
        if out:  # after each: some take half an hour
            write(measured, {**provenance(command), "threads": threads}, out)
    report(measured)
