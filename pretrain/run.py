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
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import RobertaForMaskedLM
from transformers.utils.logging import disable_progress_bar

from derive.errors import BadInput
from derive.files import MANIFEST, plain, sha256, whole_file, whole_folder, write_json
from pretrain.checkpoint import MACHINE, check_identity, load_state, read_manifest, save_state
from pretrain.config import ModelConfig, TrainConfig
from pretrain.cost import flops_per_id, peak_flops
from pretrain.data import LanguagePair
from pretrain.distributed import World
from pretrain.model import add_heads, build
from pretrain.objective import Objective, Stream
from pretrain.start import begin_with, weights_digest
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
    start: Path | None = None
    """The checkpoint to begin with, of a model of the same shape and vocabulary; without one, weights are drawn."""


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

    `allow_change` goes on with another number of threads or processes, torch or device, to other bits.

    Raises:
        BadInput: no derived study, a folder of another configuration, a damaged state or checkpoint, one to begin with
            that is of another model, a layer that the model lacks, or a corpus too small for a row.
        NonFinite: before an update with a loss or a gradient that is not a number.
    """
    identity = _identity(config, world)
    if finished(folder):
        check_identity(folder, read_manifest(folder)["identity"], identity, MACHINE)
        return folder / "checkpoint"
    if mistakes := config.objective.mistakes(config.model):
        raise BadInput("; ".join(mistakes))
    pair = LanguagePair.open(config.data, config.language)
    streams = config.objective.streams(pair, config.model.length, config.seed)
    model = build(config.model, pair.types, config.objective.language_embeddings, config.seed)
    if config.start:
        begin_with(model, config.start, config.data / "vocabulary" / "tokenizer.json")
    add_heads(model, config.objective.heads, config.seed)
    torch.nn.Module.to(model, world.device)
    if world.device.type == "cuda":
        for layer in model.roberta.encoder.layer[:-1]:  # the last one is computed at the labelled positions only
            layer.compile()
    optimizer = make_optimizer(model, config.train)
    resume = folder / "resume"
    first = load_state(resume, model, optimizer, identity, allow_change)
    log = Log(folder / "metrics.jsonl", config, {name for s in streams for name in s.weights}, pair.types, world, first)

    def after(step: int, losses: dict[str, float], norm: float) -> None:
        log.add(step, losses, norm)
        every, last = config.train, step == config.train.steps
        with log.paused():
            if probe and every.probe_every and (step % every.probe_every == 0 or last) and world.first:
                log.write({"step": step, "probe": probe(model)})
                model.train()  # whatever the probe made of it
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
    path = config.data / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))["languages"][config.language]["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"expected the manifest of languages that this version derived: {error!r}; remove the folder", path
        ) from error
    start = {"start": weights_digest(config.start)} if config.start else {}
    return start | {
        "data": data,
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
    disable_progress_bar()  # of a file that is written in a blink
    with whole_folder(checkpoint) as part:
        heads = tuple(f"{name}." for name in config.objective.heads(config.model.hidden))
        weights = {name: value for name, value in model.state_dict().items() if not name.startswith(heads)}
        model.save_pretrained(part, state_dict=weights)
        shutil.copy(config.data / "vocabulary" / "tokenizer.json", part)
    files = {f"checkpoint/{path.name}": sha256(path) for path in sorted(checkpoint.iterdir())}
    left_out = sum((Counter(stream.left_out) for stream in streams), Counter())
    write_json(folder / MANIFEST, {"identity": identity, "left out": dict(left_out), "sha256": files})
    for rest in (folder / "resume", *folder.glob(".*.part")):  # parts are of processes that were killed
        if rest.is_dir():
            shutil.rmtree(rest)
        else:
            rest.unlink(missing_ok=True)


class Log:
    """metrics.jsonl: mean losses since the last row, speed, and the share of the machine that was used.

    What objectives report beside the losses, `terms`, are means of steps too, and stand by themselves.
    """

    def __init__(self, path: Path, config: Pretraining, terms: set[str], types: int, world: World, first: int) -> None:
        self.path, self.train, self.world, self.terms = path, config.train, world, terms
        self.ids_per_step = config.train.batch * config.model.length
        self.flops = flops_per_id(config.model, types, config.objective.share) * self.ids_per_step
        self.sums: dict[str, float] = {}
        self.steps, self.since = 0, time.perf_counter()
        if world.first:
            path.parent.mkdir(parents=True, exist_ok=True)
            _keep_rows(path, first)

    def add(self, step: int, losses: dict[str, float], norm: float) -> None:
        """Count a step; every `log_every` of them become a row, and those that are left at the end."""
        self.sums = {name: self.sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self.steps += 1
        if step % self.train.log_every and step < self.train.steps:
            return
        seconds = time.perf_counter() - self.since
        speed = self.steps / seconds
        means = {name: total / self.steps for name, total in self.sums.items()}
        beside = {name: mean for name, mean in means.items() if name not in self.terms}
        row = {
            "step": step,
            "loss": {name: mean for name, mean in means.items() if name in self.terms},
            **({"reported": beside} if beside else {}),
            "gradient norm": norm,
            "learning rate": self.train.rate(step - 1),
            "tokens/s": speed * self.ids_per_step,
            "mfu": speed * self.flops / (peak_flops(self.world.device.type) * self.world.size),
        }
        self.write(row)
        self.sums, self.steps, self.since = {}, 0, time.perf_counter()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What is done inside is no training, and does not count in its speed."""
        start = time.perf_counter()
        yield
        self.since += time.perf_counter() - start

    def write(self, row: dict[str, Any]) -> None:
        """Append one row, if this process is the one that writes."""
        if self.world.first:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _keep_rows(path: Path, step: int) -> None:
    """Drop the rows after the step that a run goes on from; it will write them again."""
    if path.exists():
        whole = path.read_text(encoding="utf-8").split("\n")[:-1]  # a process that was killed may leave half a row
        with whole_file(path) as part:
            part.write_text("".join(row + "\n" for row in whole if json.loads(row)["step"] <= step), encoding="utf-8")
