"""Pretraining's tokens/s against transformers' Trainer, model and data alike: `python -m experiments.bench.step`.

In CPU seconds of one thread, so that whatever else the machine does counts little; with --threads 2 on a machine
that is not idle, threads wait for each other and that counts too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from experiments.bench.hugging_face import collator, examples, made_languages, trainer_steps
from experiments.bench.timing import Comparison, arguments, interleaved, report
from pretrain.config import ModelConfig, TrainConfig
from pretrain.distributed import ALONE
from pretrain.model import Learner, build
from pretrain.objective import Stream
from pretrain.objectives.mlm import MLM, PackedLines
from pretrain.train import make_optimizer, train

TYPES = 8192
CLOSE = 1e-4
"""How far loss and gradients may be from transformers': sums in another order."""
WARM = 2
"""Steps of a turn that are not counted."""
MODEL = ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=128)
TRAIN = TrainConfig(steps=6, batch=32, warmup=1)
RECIPES = {
    "the very same recipe": replace(MODEL, attention_dropout=0.1),
    "Calque's recipe (attention dropout 0)": MODEL,
}


def difference(stream: Stream) -> float:
    """How far our loss and its gradients are from transformers' own on one batch, as a fraction of theirs.

    Ours computes the head at the labelled positions only.
    """
    model = build(replace(MODEL, dropout=0.0), TYPES)
    rows, counts = stream.draw(range(TRAIN.batch), np.random.default_rng(0))

    def gradients(loss: Tensor) -> tuple[float, Tensor]:
        model.zero_grad()
        loss.backward()
        return float(loss.detach()), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    ours, down = gradients(stream.losses(Learner(model, {}), rows)["mlm"] / counts["mlm"])
    theirs, theirs_down = gradients(model(input_ids=rows.ids, labels=rows.labels).loss)
    return max(abs(ours - theirs) / theirs, float((down - theirs_down).norm() / theirs_down.norm()))


def main() -> None:
    """Measure and report."""
    options = arguments("pretraining against transformers' Trainer", rounds=5, threads=1)
    torch.set_num_threads(options.threads)
    made = made_languages(TYPES // 2, 200_000)
    streams = MLM().streams(made, MODEL.length, 0)
    rows = np.stack(
        [
            packed.row(i)
            for packed in (PackedLines(language, made.specials, MODEL.length) for language in made.languages)
            for i in range(len(packed))
        ]
    )
    data, collate = examples(rows), collator(TYPES)

    def ours(recipe: ModelConfig) -> Callable[[], float]:
        learner = Learner(build(recipe, TYPES), {})

        def turn() -> float:
            ends: list[float] = []
            train(
                learner,
                make_optimizer(learner, TRAIN),
                streams,
                TRAIN,
                0,
                ALONE,
                after=lambda *_: ends.append(time.process_time()),
            )
            return _speed(ends)

        return turn

    def theirs() -> float:
        return _speed(trainer_steps(reference, data, collate, TRAIN))

    if (apart := difference(streams[0])) > CLOSE:
        raise SystemExit(f"no comparison: loss or gradients differ by {apart:.1e}")
    reference = build(replace(MODEL, attention_dropout=0.1), TYPES)
    *speeds, speed = interleaved([*map(ours, RECIPES.values()), theirs], options.rounds)
    rows_out = [
        Comparison("step", f"{what}; loss, gradients equal to {apart:.0e}", mine, speed, "tokens/CPU s", mine / speed)
        for what, mine in zip(RECIPES, speeds, strict=True)
    ]
    report(rows_out, ["torch", "transformers", "accelerate"], options.out)


def _speed(ends: list[float]) -> float:
    steps = [after - before for before, after in zip(ends[WARM - 1 :], ends[WARM:], strict=False)]
    return TRAIN.batch * MODEL.length / statistics.median(steps)


if __name__ == "__main__":
    main()
