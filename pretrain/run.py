"""One pretraining run, from languages to a checkpoint, in a resumable folder that is never half-written.

<run>/checkpoint/     config.json, model.safetensors, tokenizer.json and its config, which transformers can load
<run>/checkpoint/tokenizers/  one folder per language with a tokenizer that reads and prints its spelling
<run>/metrics.jsonl   one row every log_every steps, and one per probe
<run>/snapshots/      the model's weights after some steps, if `train.snapshots` is set
<run>/resume/step-N/  the last state, until the run is finished
<run>/manifest.json   written last: the inputs, and the sha256 of the files
"""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calque.derive import strict_json
from calque.derive.artefact import Artefact, finished, write_manifest
from calque.derive.errors import BadInput
from calque.derive.files import sweep, sync, whole_file, whole_folder, writing
from calque.derive.fingerprint import plain
from calque.derive.language import SOURCE
from calque.derive.languages import Languages
from calque.pretrain.architecture import architecture_of
from calque.pretrain.checkpoint import (
    METRICS,
    Snapshots,
    check_identity,
    load_state,
    remove_states,
    save_state,
    writing_tensors,
)
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.cost import peak_flops
from calque.pretrain.distributed import World
from calque.pretrain.lazy import torch
from calque.pretrain.mixture import ALL_TOGETHER, Mixture
from calque.pretrain.model import compile_layers
from calque.pretrain.objective import Objective
from calque.pretrain.saved_model import RUN, WEIGHTS, weights_digest, write_tokenizers
from calque.pretrain.start import InitialModel
from calque.pretrain.train import make_optimizer, train

CHECKPOINT, RESUME = "checkpoint", "resume"
PARTS = "micro-batches"  # the key of the number that `auto` found
TRAINED_ON = "languages folder"  # the key of its name
CLAIMS = "claims"  # the key of the digest of primary claims
Probe = Callable[[Any], dict[str, Any]]  # a row for metrics.jsonl about a model in training: numbers under "probe"


@dataclass(frozen=True)
class Pretraining:
    """Everything that determines a run's weights, except the machine.

    languages: the languages to read, with the estimated links of their bitexts if the objective needs them.
    start: the folder of a model to start from, of the same shape and vocabulary; None for random weights.
    mixture: the amount of each language that is read.
    claims: a digest of the study's primary claims, for the manifest; it determines nothing.
    inputs: a fingerprint of what the objective reads of each language; None: of all that the languages have.
    """

    languages: Languages
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int
    start: Path | None = None
    mixture: Mixture = ALL_TOGETHER
    claims: str = ""
    inputs: Mapping[str, str] | None = None

    def identity(self, world: World) -> dict[str, Any]:
        """All that must be equal for a resumed run to give the same bits."""
        names = [language.name for language in self.languages.languages if language.name != SOURCE]
        optional = {
            "start": weights_digest(self.start) if self.start else None,
            "mixture": plain(self.mixture) if self.mixture != ALL_TOGETHER else None,
            "links": [links.facts["fingerprint"] for links in self.languages.estimates.values()] or None,
        }
        return {name: value for name, value in optional.items() if value is not None} | {
            "data": self.inputs or self.languages.identity(*names),
            "languages": names,
            "objective": plain(self.objective),
            "model": plain(self.model),
            "train": self.train.recipe,
            "seed": self.seed,
            "threads": torch.get_num_threads(),
            "world": world.size,
            "device": world.device.type,
            "torch": torch.__version__,
            "instructions": torch.backends.cpu.get_cpu_capability(),
        }


def pretrain(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    allow_change: bool = False,
    tell: Callable[[str], None] = lambda message: None,
) -> Path:
    """Train, or resume training, until the folder has a checkpoint; a finished folder is not changed. `tell` receives a
    message about weights that the starting model lacks. `allow_change` permits resuming with another number of threads
    or processes, torch, device or CPU instructions, which changes rounding. BadInput for a folder of another
    configuration, a damaged state or checkpoint, a start that does not fit, a layer that the model lacks, or a corpus
    too small for a row."""
    parts: int | None = config.train.micro_batches
    while parts:
        parts = _attempt(folder, config, world, probe, progress, allow_change, tell, parts)
        gc.collect()  # so that the card is free for another attempt
    return folder / CHECKPOINT


def _attempt(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None,
    progress: Callable[[int, int], None],
    allow_change: bool,
    tell: Callable[[str], None],
    parts: int,
) -> int | None:
    """`pretrain` with at least `parts` micro-batches; if these need too much memory, returns a larger number to try
    from the last saved state."""
    identity, objective, schedule = config.identity(world), config.objective, config.train
    if finished(folder):
        run = Artefact.open(folder, RUN)
        check_identity(run, identity, any_machine=True)
        run.verify()
        return None
    if mistakes := objective.mistakes(config.model):
        raise BadInput(mistakes)
    languages = config.mixture.read(config.languages)
    streams = objective.streams(languages, config.model.length, config.seed)
    initial = InitialModel(config.start, config.model, languages, objective.traits.language_embeddings, config.seed)
    model, drawn = initial.load()
    learner = objective.learner(model, config.seed).to(world.device)
    if world.device.type == "cuda":
        compile_layers(model)
    else:
        from calque.pretrain.onednn import use_onednn

        use_onednn(learner, config.model.length)
    if drawn and world.first:
        tell(f"random, because the starting model lacks them: {', '.join(drawn)}")
    optimizer = make_optimizer(learner, schedule)
    first, state = load_state(folder / RESUME, learner, optimizer, identity, allow_change)
    auto = schedule.grad_accumulation == "auto"
    parts = max(parts, state.facts.get(PARTS, 1) if state else 1)
    claims = state.facts.get(CLAIMS, "") if state else config.claims  # a resumed run keeps its first ones
    used = ({PARTS: parts} if auto else {}) | ({CLAIMS: claims} if claims else {})
    ids = schedule.batch * config.model.length
    flops = ids * objective.flops(config.model, model.config.vocab_size)
    peak = peak_flops(world.device.type) * world.size / flops
    terms = {name for stream in streams for name in stream.weights}
    rows = state.path(METRICS) if state else None
    metrics = Metrics(folder, schedule, terms, ids, peak, world.first, rows)
    snapshots = Snapshots(folder, schedule, world.first, state)
    snapshots.add(first, model)

    def after(step: int, losses: dict[str, float], norm: float) -> None:
        metrics.add(step, losses, norm)
        last, start = step == schedule.steps, time.perf_counter()
        snapshots.add(step, model)
        if probe and schedule.probe_every and (step % schedule.probe_every == 0 or last) and world.first:
            metrics.write({"step": step, **probe(model)})
            learner.train()  # the probe may have changed the mode
        if schedule.save_every and step % schedule.save_every == 0 and not last:
            if world.first:
                save_state(folder / RESUME, step, learner, optimizer, identity, metrics.path, snapshots.digests, used)
            world.wait()
        metrics.since += time.perf_counter() - start  # none of this counts towards the speed of training
        progress(step, schedule.steps)

    def read(step: int) -> bool:
        """Whether `after` has to be called at once: it writes a row, probes, or keeps weights."""
        every = (schedule.log_every, schedule.probe_every, schedule.save_every)
        return world.device.type == "cpu" or any(n and step % n == 0 for n in every) or step in schedule.kept

    fixed = replace(schedule, grad_accumulation=parts)
    try:
        draws = train(learner, optimizer, streams, fixed, config.seed, world, first, after, config.mixture, read)
    except torch.OutOfMemoryError as error:
        if auto and world.size == 1 and parts < schedule.batch:
            tell(f"the card's memory ran out: smaller micro-batches, {2 * parts} per step, from the last saved state")
            return min(2 * parts, schedule.batch)
        if parts * world.size < schedule.batch:
            error.add_note(f"with --set train.grad_accumulation={'auto' if world.size == 1 else 2 * parts}")
        raise
    if world.first:
        sync(metrics.path)
        whole = initial.complete(model, identity.get("start"))
        left_out = sum((Counter(stream.left_out) for stream in streams), Counter())
        facts = {"identity": identity, "left out": dict(left_out), "drawn": drawn, **used}
        facts[TRAINED_ON] = languages.folder.name
        if languages.disjoint:
            facts["halves"] = {language.name: len(language.corpus) for language in languages.languages}
        finish(folder, whole, languages.whole, facts | {"shown": draws.shown(schedule.steps)})
    world.wait()
    return None


def finish(folder: Path, model: Any, languages: Languages, facts: dict[str, Any]) -> None:
    """Write the checkpoint, then the manifest, then remove the resumable state."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # for a file that is written at once
    with whole_folder(folder / CHECKPOINT) as part:
        with writing_tensors(part / WEIGHTS):
            model.save_pretrained(part)
        write_tokenizers(languages, part, architecture_of(model.config).length(model.config))
    sweep(folder)
    write_manifest(folder, RUN, facts, leave_out=(RESUME,))
    remove_states(folder / RESUME)
    with suppress(OSError):  # there is none, or it has files of the user's
        (folder / RESUME).rmdir()


class Metrics:
    """The rows of a run: mean losses since the last row, speed, and utilisation of the machine. `terms` are the losses;
    other reported numbers are averaged in a separate field. A step has `ids`; `peak` is the steps/s of all processes at
    their machines' full speed. A resumed run starts with the state's `rows`, a file. Other processes keep nothing."""

    def __init__(
        self, folder: Path, config: TrainConfig, terms: set[str], ids: int, peak: float, writes: bool, rows: Path | None
    ) -> None:
        self.path, self.train, self.terms, self.writes = folder / METRICS, config, terms, writes
        self.ids, self.peak = ids, peak
        self.sums: dict[str, float] = {}
        self.steps, self.since = 0, time.perf_counter()
        if writes:
            with whole_file(self.path) as part:
                part.write_bytes(rows.read_bytes() if rows else b"")

    def add(self, step: int, losses: Mapping[str, float], norm: float) -> None:
        """Count a step; write a row every `log_every` steps and after the last."""
        self.sums = {name: self.sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self.steps += 1
        if step % self.train.log_every and step < self.train.steps:
            return
        speed = self.steps / (time.perf_counter() - self.since)
        means = {name: total / self.steps for name, total in self.sums.items()}
        reported = {name: mean for name, mean in means.items() if name not in self.terms}
        self.write(
            {
                "step": step,
                "of": self.train.steps,
                "tokens": step * self.ids,
                "loss": {name: mean for name, mean in means.items() if name in self.terms},
                **({"reported": reported} if reported else {}),
                "gradient norm": norm,
                "learning rate": self.train.rate(step - 1),
                "tokens/s": speed * self.ids,
                "mfu": speed / self.peak,
            }
        )
        self.sums, self.steps, self.since = {}, 0, time.perf_counter()

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one row, if this is the writing process."""
        if self.writes:
            with writing(self.path), self.path.open("ab") as file:
                file.write((json.dumps(row) + "\n").encode())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a run's metrics.jsonl."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read metrics: {error}", path) from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = strict_json.loads(line)
            if not isinstance(row["step"], int) or not {"loss", "probe"} & row.keys():
                raise ValueError("no losses and no probe")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"not a row of metrics ({error})", path, number) from error
        rows.append(row)
    return rows
