"""Pretraining on a GPU against transformers' Trainer in bfloat16 with SDPA and torch.compile: useful operations per
second, as a percentage of the rate of a large matrix product on this card (MFU)."""

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from calque.derive.languages import Languages
from calque.experiments.bench.harness import Comparison, interleaved
from calque.experiments.bench.training import (
    check_close,
    examples,
    made_collator,
    made_languages,
    trainer_ends,
    trainers,
)
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.cost import peak_flops
from calque.pretrain.distributed import World
from calque.pretrain.model import build, compile_layers
from calque.pretrain.modules import Learner
from calque.pretrain.objectives.mlm import MLM, Monolingual
from calque.pretrain.train import make_optimizer, train

WORKERS = 4  # processes that mask for the Trainer
WARM = 10  # steps of a turn that are not counted: torch compiles during the first


@dataclass(frozen=True)
class Size:
    """A model with `types` types, and the rows of a step."""

    name: str
    model: ModelConfig
    types: int
    rows: int
    steps: int = 60


SIZES = (
    Size("ALIGN-MLM's model", ModelConfig(layers=8, heads=8, hidden=512, ffn=2048, length=512), 80_000, 64),
    Size("XLM-R base", ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512), 250_002, 16),
)


def pretraining(rounds: int) -> Iterator[Comparison]:
    """MLM with the model of ALIGN-MLM, and with one of XLM-R base's size."""
    device, compiled = torch.device("cuda"), {"bf16": True, "torch_compile": True, "use_cpu": False}
    loader = {"dataloader_num_workers": WORKERS, "dataloader_persistent_workers": True}
    gaps = [difference(size, device) for size in SIZES]  # before the Trainer lowers the precision of products
    for size, gap in zip(SIZES, gaps, strict=True):
        yield utilisation(size, device, rounds, gap, **compiled, **loader)


def difference(size: Size, device: torch.device) -> float:
    """The relative difference of both sides' loss and gradients, without dropout."""
    exact = build(replace(size.model, dropout=0.0), size.types).to(device)
    (stream,) = MLM().streams(_languages(size), size.model.length, 0)
    return check_close(exact, stream, device)


def _languages(size: Size) -> Languages:
    return made_languages(size.types // 2, 4 * size.rows * size.model.length)


def utilisation(size: Size, device: torch.device, rounds: int, gap: float, **options: Any) -> Comparison:
    """The MFU of both sides. Both count the operations that MLM needs, with the head at labelled positions only;
    `options` are the Trainer's. Torch compiles again in each turn, so that no turn runs the code of another."""
    objective, types, length, languages = MLM(), size.types, size.model.length, _languages(size)
    streams = [Monolingual(languages, length, objective.mask_rate)]
    config, world = TrainConfig(steps=size.steps, batch=size.rows, warmup=1), World(0, 1, device)
    share = 100 * size.rows * length * objective.flops(size.model, types) / peak_flops(device.type)
    learner = Learner(build(size.model, types).to(device), {})
    if device.type == "cuda":
        compile_layers(learner.model)
    packed, _ = streams[0].read(range(streams[0].instances))
    data, reference, collate = examples(packed, languages), build(size.model, types), made_collator(types)
    collate.tokenizer.model_input_names = ["input_ids"]  # no row is padded, and a mask would slow attention down

    def turn(run: Callable[[Callable[[], float]], list[float]]) -> float:
        torch.compiler.reset()
        ends = run(_Clock(device, size.steps))
        return share * (size.steps - WARM) / (ends[-1] - ends[WARM - 1])

    def ours(now: Callable[[], float]) -> list[float]:
        ends: list[float] = []
        optimizer = make_optimizer(learner, config)
        end, read = lambda *_: ends.append(now()), lambda step: step == WARM  # the last is read anyway
        train(learner, optimizer, streams, config, 0, world, after=end, read=read)
        return ends

    def theirs(now: Callable[[], float]) -> list[float]:
        return trainer_ends(
            deepcopy(reference),  # the Trainer leaves marks in a model that it has compiled
            data,
            collate,
            now=now,
            optim="adamw_torch_fused",
            dataloader_drop_last=True,
            remove_unused_columns=False,
            logging_nan_inf_filter=False,  # it would wait for the GPU in each step
            **trainers(config),
            **options,
        )

    rates = interleaved([partial(turn, side) for side in (ours, theirs)], rounds)
    shape = f"{size.model.layers} layers of width {size.model.hidden}, {types:,} types, {size.rows} rows of {length}"
    what = f"pretraining {size.name}: {shape}; loss and gradients equal to {gap:.0e}"
    against = f"HF Trainer{', bf16, torch.compile' if options else ''}"
    return Comparison(what, against, "% of a matrix product's rate", *rates)


class _Clock:
    """The time at the end of each step in s; only after the first WARM steps and the last is it the device's."""

    def __init__(self, device: torch.device, steps: int) -> None:
        self.device, self.read, self.step = device, (WARM, steps), 0

    def __call__(self) -> float:
        self.step += 1
        if self.step in self.read and self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()
