"""A run that is killed again and again, and one whose disk is full: `python -m tests.pretrain.lives STUDY OUT LIVES`.

Importing torch takes seconds, so one process imports it and forks a child a life; it never computes a gradient
itself, since autograd's threads would not survive the fork. Prints one line of JSON: what the children died of.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from pretrain.cost import peak_flops
from pretrain.distributed import ALONE
from pretrain.objective import Sum
from pretrain.objectives.align_mlm import Align
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import TLM
from pretrain.objectives.xlm_align import DWA
from pretrain.run import Pretraining, pretrain
from tests.pretrain.made import LANGUAGE, MODEL, TRAIN

STEPS = 400
"""More than 20 lives could see before they end."""
TRAINING = replace(TRAIN, steps=STEPS, warmup=20, batch=6, log_every=2, save_every=4)
EVERYTHING = Sum("everything", (MLM(), TLM(), Align(), DWA(tlm=False)))
FULL_AT, ROOM = 101, 20_000
"""The step at which the disk is full, and the bytes that still fit into a file."""


def life(study: Path, folder: Path, seen: Callable[[int], None]) -> int:
    """Train in a child until the end; returns the child's process id."""
    child = os.fork()
    if child:
        return child
    try:
        config = Pretraining(study, (LANGUAGE,), EVERYTHING, MODEL, TRAINING, seed=3)
        pretrain(folder, config, ALONE, progress=lambda step, steps: seen(step))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def killed_life(study: Path, folder: Path, dice: random.Random) -> int:
    """A life that ends by SIGKILL a few steps and milliseconds after it begins; returns its status."""
    read, write = os.pipe()
    child = life(study, folder, lambda step: os.write(write, b".") and None)
    os.close(write)
    for _ in range(dice.randrange(12)):
        os.read(read, 1)
    time.sleep(dice.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.close(read)
    return os.waitpid(child, 0)[1]


def fill_disk(step: int) -> None:
    """From one step on no file may grow beyond a size that a state does not fit into."""
    if step == FULL_AT:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def main(study: Path, out: Path, lives: int) -> None:
    torch.set_num_threads(1)
    peak_flops("cpu")  # measured once, and inherited
    dice = random.Random(1)

    def through(folder: Path, seen: Callable[[int], None] = lambda step: None) -> int:
        return os.waitpid(life(study, folder, seen), 0)[1]

    print(
        json.dumps(
            {
                "uninterrupted": through(out / "whole"),
                "killed": [killed_life(study, out / "killed", dice) for _ in range(lives)],
                "last life": through(out / "killed"),
                "disk full": through(out / "full", fill_disk),
                "left by it": sorted(path.name for path in (out / "full" / "resume").iterdir()),
                "with room again": through(out / "full"),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
