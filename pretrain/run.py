"""One pretraining run, from derived languages to a checkpoint, in a folder that resumes and is never half-written.

<run>/checkpoint/     config.json, model.safetensors, tokenizer.json and its config: transformers loads it as it is
<run>/checkpoint/tokenizers/  a folder a language, whose tokenizer reads its text as it is spelt, and prints it
<run>/metrics.jsonl   a row every log_every steps, and one a probe
<run>/snapshots/      the model's weights alone at some steps, where `train.snapshots` asks for them
<run>/resume/step-N/  the last state, while the run is not finished
<run>/manifest.json   last: what it was made from, and the sha256 of what was made
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from derive.artefact import Artefact, finished, write_manifest
from derive.errors import BadInput
from derive.files import plain, sweep, whole_folder
from derive.languages import Languages, fingerprints
from derive.links.stored import links_identity, links_pair
from pretrain.architecture import architecture_of
from pretrain.checkpoint import MACHINE, check_identity, load_state, save_state, writing_tensors
from pretrain.config import ModelConfig, TrainConfig
from pretrain.cost import peak_flops
from pretrain.distributed import World
from pretrain.learner import Learner
from pretrain.metrics import Metrics
from pretrain.mixture import ALL_TOGETHER, Mixture
from pretrain.objective import Objective, Stream
from pretrain.saved_model import RUN, WEIGHTS
from pretrain.snapshots import Snapshots
from pretrain.start import Beginning, weights_digest
from pretrain.tokenizer import write_tokenizers
from pretrain.train import make_optimizer, train

CHECKPOINT, RESUME = "checkpoint", "resume"
Probe = Callable[[Any], dict[str, float]]
"""Measures a model during training; its numbers go into metrics.jsonl."""


@dataclass(frozen=True)
class Pretraining:
    """Everything that determines a run's weights, except the machine that computes them."""

    data: Path
    languages: tuple[str, ...]
    """The derived (or translated) languages that one model reads beside their source: none of a source alone."""
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int
    start: Path | None = None
    """The folder of a model to begin with, of the same shape and vocabulary; without one, weights are drawn."""
    links: tuple[Path, ...] = ()
    """Estimated links of words of bitexts, a folder each, for objectives that learn from them."""
    mixture: Mixture = ALL_TOGETHER
    """How much of each language is read."""


def pretrain(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    allow_change: bool = False,
    tell: Callable[[str], None] = lambda said: None,
) -> Path:
    """Train, or go on training, until the folder holds a checkpoint; a finished folder is left as it is.

    `tell` is told, for people, what the model to begin with lacked. `allow_change` goes on with another number of
    threads or processes, torch or device, to other bits.

    Raises:
        BadInput: no derived languages, a folder of another configuration, a damaged state or checkpoint, one to begin
            with that is of another model, a layer that the model lacks, or a corpus too small for a row.
        NonFinite: before an update with a loss or a gradient that is not a number.
    """
    identity = _identity(config, world)
    if finished(folder):
        made = Artefact.open(folder, RUN)
        check_identity(made, identity, MACHINE)
        made.verify()
        return folder / CHECKPOINT
    if mistakes := config.objective.mistakes(config.model):
        raise BadInput("; ".join(mistakes))
    languages = Languages.open(config.data, config.languages)
    for links in config.links:
        languages = languages.with_links(*links_pair(links), links)
    languages = config.mixture.of(languages)
    streams = config.objective.streams(languages, config.model.length, config.seed)
    beginning = Beginning(config.start, config.model, languages, config.objective.language_embeddings, config.seed)
    learner, drawn = _learner(config, beginning, world)
    if drawn and world.first:
        tell(f"new, because the start has none: {', '.join(drawn)}")
    optimizer = make_optimizer(learner, config.train)
    first, sealed = load_state(folder / RESUME, learner, optimizer, identity, allow_change)
    metrics = _metrics(folder, config, streams, learner, world, sealed)
    snapshots = Snapshots(folder, config.train, world.first, sealed)
    snapshots.add(first, learner.model)

    def after(step: int, losses: dict[str, float], norm: float) -> None:
        metrics.add(step, losses, norm)
        schedule, last = config.train, step == config.train.steps
        with metrics.paused():
            snapshots.add(step, learner.model)
            if probe and schedule.probe_every and (step % schedule.probe_every == 0 or last) and world.first:
                metrics.write({"step": step, "probe": probe(learner.model)})
                learner.train()  # whatever the probe made of it
            if schedule.save_every and step % schedule.save_every == 0 and not last:
                if world.first:
                    beside = metrics.sealed() | snapshots.sealed()
                    save_state(folder / RESUME, step, learner, optimizer, identity, beside)
                world.wait()
        progress(step, config.train.steps)

    draws = train(learner, optimizer, streams, config.train, config.seed, world, first, after, config.mixture)
    if world.first:
        metrics.sealed()
        left_out = sum((Counter(stream.left_out) for stream in streams), Counter())
        facts = {"identity": identity, "left out": dict(left_out), "drawn": drawn}
        facts |= {"shown": draws.shown(config.train.steps)}
        _finish(folder, beginning.end(learner.model, identity.get("start")), languages.whole, facts)
    world.wait()
    return folder / CHECKPOINT


def _learner(config: Pretraining, beginning: Beginning, world: World) -> tuple[Learner, list[str]]:
    """The model to train with what its objective has beside it, and what of a folder's model had to be drawn."""
    model, drawn = beginning.model()
    learner = config.objective.learner(model, config.seed)
    torch.nn.Module.to(learner, world.device)
    if world.device.type == "cuda":
        for layer in architecture_of(model.config).layers(model)[:-1]:
            layer.compile()  # but for the last one, which is computed at the labelled positions only
    return learner, drawn


def _identity(config: Pretraining, world: World) -> dict[str, Any]:
    """What must be the same for a resumed run to reach the same bits."""
    begun = {"start": weights_digest(config.start)} if config.start else {}
    linked = {"links": [links_identity(links) for links in config.links]} if config.links else {}
    begun |= {"mixture": plain(config.mixture)} if config.mixture != ALL_TOGETHER else {}
    return (
        begun
        | linked
        | {
            "data": fingerprints(config.data, config.languages),
            "languages": list(config.languages),
            "objective": plain(config.objective),
            "model": plain(config.model),
            "train": config.train.recipe,
            "seed": config.seed,
            "threads": torch.get_num_threads(),
            "world": world.size,
            "device": world.device.type,
            "torch": torch.__version__,
        }
    )


def _metrics(
    folder: Path,
    config: Pretraining,
    streams: Sequence[Stream],
    learner: Learner,
    world: World,
    sealed: dict[str, Any],
) -> Metrics:
    ids = config.train.batch * config.model.length
    rows = learner.model.config.vocab_size
    return Metrics(
        folder,
        config.train,
        {name for stream in streams for name in stream.weights},
        ids,
        config.objective.flops_per_id(config.model, rows) * ids,
        peak_flops(world.device.type) * world.size,
        world.first,
        sealed,
    )


def _finish(folder: Path, model: Any, languages: Languages, facts: dict[str, Any]) -> None:
    """Write the checkpoint, then the manifest, then drop the state that nobody will resume."""
    disable_progress_bar()  # of a file that is written in a blink
    with whole_folder(folder / CHECKPOINT) as part:
        with writing_tensors(part / WEIGHTS):
            model.save_pretrained(part)
        length = architecture_of(model.config).length(model.config)
        write_tokenizers(languages, part, length)
    sweep(folder)
    write_manifest(folder, RUN, facts, leave_out=(RESUME,))
    if (folder / RESUME).is_dir():
        shutil.rmtree(folder / RESUME)
