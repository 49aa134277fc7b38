"""One pretraining run, from a derived study to a checkpoint, in a folder that resumes and is never half-written.

<run>/checkpoint/     config.json, model.safetensors, tokenizer.json: transformers loads it as it is
<run>/metrics.jsonl   a row every log_every steps, and one a probe
<run>/resume/step-N/  the last state, while the run is not finished
<run>/manifest.json   last: what it was made from, and the sha256 of what was made
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import RobertaForMaskedLM

from derive.errors import BadInput
from derive.files import MANIFEST, plain, sha256, whole_folder, write_json
from pretrain.checkpoint import load_state, save_state
from pretrain.config import ModelConfig, TrainConfig
from pretrain.cost import flops_per_id, peak_flops
from pretrain.data import LanguagePair
from pretrain.distributed import World
from pretrain.mask import SHARE
from pretrain.model import build
from pretrain.objective import Objective, Stream
from pretrain.train import make_optimizer, train

Probe = Callable[[RobertaForMaskedLM], dict[str, float]]
"""Measures a model during training; its numbers go into metrics.jsonl."""


@dataclass(frozen=True)
class Pretraining:
    """Everything that decides a run's weights, but for the machine that computes them."""

    data: Path
    language: str
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int


def finished(folder: Path) -> bool:
    """Whether a run is whole: the manifest is written last."""
    return (folder / MANIFEST).exists()


def pretrain(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    allow_change: bool = False,
) -> Path:
    """Train, or go on training, until the folder holds a checkpoint; a finished folder is left as it is.

    Raises:
        BadInput: a folder of another configuration, a damaged state, or a corpus too small for a row.
    """
    if finished(folder):
        return folder / "checkpoint"
    pair = LanguagePair.open(config.data, config.language)
    streams = config.objective.streams(pair, config.model.length, config.seed)
    if not sum(stream.instances for stream in streams):
        raise BadInput(f"the corpus does not fill one row of {config.model.length} ids", config.data)
    model = build(config.model, 2 * pair.size, config.objective.language_embeddings, config.seed)
    torch.nn.Module.to(model, world.device)
    if world.device.type == "cuda":
        model.roberta.compile()
    optimizer = make_optimizer(model, config.train)
    identity = _identity(config, world)
    resume = folder / "resume"
    first = load_state(resume, model, optimizer, identity, allow_change)
    log = Log(folder / "metrics.jsonl", config, 2 * pair.size, world, first)

    def after(step: int, losses: dict[str, float], norm: float) -> None:
        log.add(step, losses, norm)
        every, last = config.train, step == config.train.steps
        if probe and every.probe_every and (step % every.probe_every == 0 or last) and world.first:
            log.write({"step": step, "probe": probe(model)})
        if every.save_every and step % every.save_every == 0 and not last:
            if world.first:
                save_state(resume, step, model, optimizer, identity)
            world.wait()
        progress(step, config.train.steps)

    train(model, optimizer, streams, config.train, config.seed, world, first, after)
    if world.first:
        _finish(folder, model, config, identity, streams)
    world.wait()
    return folder / "checkpoint"


def _identity(config: Pretraining, world: World) -> dict[str, Any]:
    """What must be the same for a resumed run to reach the same bits."""
    manifest = json.loads((config.data / MANIFEST).read_text(encoding="utf-8"))
    return {
        "data": manifest["fingerprint"],
        "language": config.language,
        "objective": plain(config.objective),
        "model": plain(config.model),
        "train": plain(config.train),
        "seed": config.seed,
        "threads": torch.get_num_threads(),
        "world": world.size,
        "device": world.device.type,
        "torch": torch.__version__,
    }


def _finish(
    folder: Path, model: RobertaForMaskedLM, config: Pretraining, identity: dict[str, Any], streams: list[Stream]
) -> None:
    """Write the checkpoint, then the manifest, then drop the state that nobody will resume."""
    checkpoint = folder / "checkpoint"
    with whole_folder(checkpoint) as part:
        model.save_pretrained(part)
        shutil.copy(config.data / "vocabulary" / "tokenizer.json", part)
    files = {f"checkpoint/{path.name}": sha256(path) for path in sorted(checkpoint.iterdir())}
    left_out = {why: n for stream in streams for why, n in stream.left_out.items()}
    write_json(folder / MANIFEST, {"identity": identity, "left out": left_out, "sha256": files})
    shutil.rmtree(folder / "resume", ignore_errors=True)


class Log:
    """metrics.jsonl: mean losses since the last row, speed, and the share of the machine that was used."""

    def __init__(self, path: Path, config: Pretraining, types: int, world: World, first: int) -> None:
        self.path, self.every, self.world = path, config.train.log_every, world
        self.rates = config.train.rate
        self.ids_per_step = config.train.batch * config.model.length
        self.flops = flops_per_id(config.model, types, SHARE) * self.ids_per_step
        self.sums: dict[str, float] = {}
        self.steps, self.since = 0, time.perf_counter()
        if world.first:
            path.parent.mkdir(parents=True, exist_ok=True)
            _keep_rows(path, first)

    def add(self, step: int, losses: dict[str, float], norm: float) -> None:
        """Count a step; every `log_every` of them become a row."""
        self.sums = {name: self.sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self.steps += 1
        if step % self.every:
            return
        seconds = time.perf_counter() - self.since
        speed = self.steps / seconds
        row = {
            "step": step,
            "loss": {name: total / self.steps for name, total in self.sums.items()},
            "gradient norm": norm,
            "learning rate": self.rates(step - 1),
            "tokens/s": speed * self.ids_per_step,
            "mfu": speed * self.flops / (peak_flops(self.world.device.type) * self.world.size),
        }
        self.write(row)
        self.sums, self.steps, self.since = {}, 0, time.perf_counter()

    def write(self, row: dict[str, Any]) -> None:
        """Append one row, if this process is the one that writes."""
        if self.world.first:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _keep_rows(path: Path, step: int) -> None:
    """Drop the rows after the step that a run goes on from; it will write them again."""
    if path.exists():
        rows = path.read_text(encoding="utf-8").splitlines()
        kept = [row for row in rows if row.endswith("}") and json.loads(row)["step"] <= step]
        path.write_text("".join(row + "\n" for row in kept), encoding="utf-8")
