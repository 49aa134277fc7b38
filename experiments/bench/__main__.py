"""The command line: `python -m experiments.bench step mask`; without a name, all."""

import argparse
from pathlib import Path

import torch
from transformers.utils import logging

from calque.derive.errors import BadInput
from calque.experiments.bench import alignment, derive, finetuning, training
from calque.experiments.bench.harness import report, write
from calque.experiments.runs import provenance

BENCHES = {
    "step": training.step,
    "continued": training.continued,
    "mask": training.mask,
    "finetuning": finetuning.finetuning,
    "aligners": alignment.aligners,
    "derive": derive.derive,
}
"""Each function documents its measurement and takes the number of rounds."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each side, in turns")
    parser.add_argument("--threads", type=int, default=1, help="torch threads")
    parser.add_argument("--out", type=Path, help="also write the measurements to this JSON file")
    options = parser.parse_args()
    if unknown := set(options.names) - BENCHES.keys():
        parser.error(f"no benchmark is called {min(unknown)!r}; there are {', '.join(BENCHES)}")
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()  # otherwise it lists a model's missing weights each time
    logging.disable_progress_bar()
    settings = f"--rounds {options.rounds} --threads {options.threads}"
    command = " ".join(["python -m experiments.bench", *options.names, settings])
    measured = {}
    for name in options.names or BENCHES:
        try:
            measured[name] = BENCHES[name](options.rounds)
        except BadInput as error:
            parser.exit(2, f"calque: {error}\n")
        if options.out:  # after each: some take half an hour
            write(measured, {**provenance(command), "threads": options.threads}, options.out)
    report(measured)


if __name__ == "__main__":
    main()
