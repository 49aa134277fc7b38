"""Runs that are killed again and again: `python -m tests.pretrain.lives STUDY OUT LIVES SIZE`.

Each life is a world of SIZE processes (1 or 2); each in turn is killed at a random moment, and the others
have to end by themselves. STUDY is written if it is missing. Prints as one line of JSON how the processes of
each life ended, and whether all lives ended with the same bits.
"""

import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import torch

from calque.derive.languages import Languages
from calque.pretrain.distributed import PATIENCE
from calque.pretrain.model import build
from calque.pretrain.run import Pretraining, pretrain
from tests.pretrain.made import LANGUAGE, MODEL, TRAIN, write_study
from tests.pretrain.ranks import EVERYTHING
from tests.pretrain.worlds import begin, end_of

STEPS = {1: 60, 2: 60}
"""By the number of processes: more than all lives together can take."""
AHEAD = 3
"""How many steps a process may take after the one at which it is due to die, before it waits for the
signal.
"""
IMPATIENT = timedelta(seconds=8)


def training(size):
    return replace(TRAIN, steps=STEPS[size], warmup=20, batch=6, log_every=2, save_every=4)


def life(study, folder, size, seen, patience=PATIENCE, parents=()):
    """Train in a world of processes and return their ids; the first process calls `seen` after each step.
    Only the parent keeps the file descriptors `parents` open."""

    def work(world):
        for descriptor in parents:
            os.close(descriptor)
        config = Pretraining(Languages.open(study, (LANGUAGE,)), EVERYTHING, MODEL, training(size), seed=3)
        pretrain(folder, config, world, progress=lambda step, steps: world.first and seen(step))

    return begin(size, work, patience)


def struck_life(study, folder, size, dice, rank, by=signal.SIGKILL):
    """Send a signal to one process a few steps and milliseconds after the start, and return how the processes
    end. The process cannot finish first: `AHEAD` steps later it waits at a gate that opens when the signal
    has been sent."""
    read, write = os.pipe()
    gate, gate_held = os.pipe()
    steps = dice.randrange(12) if size == 1 else dice.randrange(1, 12)
    left = iter(range(steps + AHEAD))

    def seen(step):
        os.write(write, b".")
        if next(left, None) is None:
            os.read(gate, 1)

    patience = PATIENCE if by is signal.SIGKILL else IMPATIENT
    children = life(study, folder, size, seen, patience, parents=(gate_held,))
    os.close(write)
    for _ in range(steps):
        os.read(read, 1)
    time.sleep(dice.uniform(0, 0.02))
    struck = children[rank]
    os.kill(struck, by)
    for descriptor in (read, gate, gate_held):
        os.close(descriptor)
    ends = {child: end_of(child) for child in children if child != struck}
    os.kill(struck, signal.SIGKILL)  # even if it is only stopped
    return [ends[child] if child in ends else end_of(child) for child in children]


def first_dies(world):
    """Let the first process die while the other waits for its results."""
    world.wait()
    if world.first:
        os.kill(os.getpid(), signal.SIGKILL)
    while True:
        world.check()
        time.sleep(0.01)


def main(study, out, lives, size):
    torch.set_num_threads(1)
    build(MODEL, 10, 1)
    dice = random.Random(size)
    if not study.exists():
        write_study(study)

    def through(folder):
        return [end_of(child) for child in life(study, folder, size, lambda step: None)]

    def weights(folder):
        return (out / folder / "checkpoint" / "model.safetensors").read_bytes()

    results = {
        "uninterrupted": through(out / "whole"),
        "killed": [struck_life(study, out / "killed", size, dice, number % size) for number in range(lives)],
        "stopped": [
            struck_life(study, out / "killed", size, dice, rank, signal.SIGSTOP)
            for rank in range(size)
            if size > 1
        ],
        "waiting": [end_of(child) for child in begin(size, first_dies)] if size > 1 else [],
        "last life": through(out / "killed"),
        "the same bits": weights("whole") == weights("killed"),
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
