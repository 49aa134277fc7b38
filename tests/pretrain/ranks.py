"""What two processes compute, for test_distributed: `torchrun --nproc-per-node 2 -m tests.pretrain.ranks STUDY OUT`."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file

from derive.languages import Languages
from pretrain.distributed import World, join, leave
from pretrain.objective import Objective
from pretrain.objectives.align_mlm import align_mlm
from pretrain.run import Pretraining, pretrain
from pretrain.train import NonFinite, make_optimizer, train
from tests.pretrain.made import LANGUAGE, MODEL, OBJECTIVES, STILL, TRAIN, Gradients, new_learner

BATCHES = {"even": 8, "odd": 5, "one row for two": 1}


def gradients(
    objective: Objective, languages: Languages, batch: int, world: World
) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    """The gradient and the mean losses of one step in two cuts, without dropout."""
    learner = new_learner(objective)
    optimizer, losses = Gradients(learner), dict[str, float]()
    config = replace(TRAIN, steps=1, warmup=0, batch=batch, grad_accumulation=2, clip=1e9)
    streams = objective.streams(languages, STILL.length, 0)
    train(learner, optimizer, streams, config, 0, world, after=lambda _, means, __: losses.update(means))
    return optimizer.last, losses


def stops(languages: Languages, world: World) -> bool:
    """Whether this process stops when a loss is not a number."""
    learner = new_learner(align_mlm())
    config = replace(TRAIN, learning_rate=1e30)
    try:
        train(
            learner, make_optimizer(learner, config), align_mlm().streams(languages, STILL.length, 0), config, 0, world
        )
    except NonFinite:
        return True
    return False


def main(study: Path, out: Path) -> None:
    torch.set_num_threads(1)
    world = join()
    languages = Languages.open(study, [LANGUAGE])
    for name, objective in OBJECTIVES.items():
        for cut, batch in BATCHES.items():
            gradient, losses = gradients(objective, languages, batch, world)
            if world.first:
                save_file(gradient, out / f"{name} {cut}.safetensors")
                (out / f"{name} {cut}.json").write_text(json.dumps(losses), encoding="utf-8")
    (out / f"stops-{world.rank}.json").write_text(json.dumps(stops(languages, world)), encoding="utf-8")
    for folder in ("run", "again"):
        pretrain(out / folder, Pretraining(study, (LANGUAGE,), align_mlm(), MODEL, TRAIN, seed=0), world)
    leave()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
