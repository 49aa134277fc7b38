"""Pretraining runs, from languages to a checkpoint, and finished runs stored in a file.

<run>/checkpoint/             a model and tokenizer that transformers can load
<run>/checkpoint/tokenizers/  for each language, a tokenizer that encodes and decodes text in its spelling
<run>/metrics.jsonl           one row every log_every steps, and one row per probe
<run>/resume/step-N/          the latest state, until the run is finished
<run>/manifest.json           written last: the inputs, and the sha256 of all files
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from calque.derive.errors import BadInput
from calque.derive.files import (
    MANIFEST,
    Artefact,
    finished,
    making,
    parse_json,
    sweep,
    sync,
    whole_file,
    whole_folder,
    write_manifest,
    writing,
)
from calque.derive.fingerprint import plain, sha256
from calque.derive.languages import SOURCE, Languages
from calque.pretrain.config import ALL_TOGETHER, Mixture, ModelConfig, TrainConfig
from calque.pretrain.distributed import World
from calque.pretrain.lazy import Optimizer, Tensor, tensor_files, torch
from calque.pretrain.model import compile_layers, row_length, state_of
from calque.pretrain.objective import Learner, Objective, Stream
from calque.pretrain.saved_model import (
    RUN,
    WEIGHTS,
    initial_model,
    put_back,
    reading_tensors,
    weights_file,
    with_rows,
    write_tokenizers,
)
from calque.pretrain.train import Draws, learning_rate, make_optimizer, train

CHECKPOINT, RESUME, METRICS = "checkpoint", "resume", "metrics.jsonl"
MOMENTS = "optimizer.safetensors"
STATE = "the state of a run"  # an artefact kind
KINDS = ("step", "exp_avg", "exp_avg_sq")  # AdamW's state tensors for each parameter
MACHINE = {"threads", "world", "torch", "device", "instructions"}
"""Keys of an identity that affect only rounding."""
TRAINED_ON, CLAIMS = "languages folder", "claims"  # manifest keys
STEP = "step-" + 9 * "[0-9]"  # the names of states
Probe = Callable[[Any], dict[str, Any]]  # returns a row for metrics.jsonl with its numbers under "probe"


@dataclass(frozen=True)
class Pretraining:
    """All settings, apart from the machine, that determine a run's weights.

    languages: with estimated links, if the objective needs them.
    start: the folder of the model to start from; None for random weights.
    claims: a digest of the study's primary claims, for the manifest.
    inputs: fingerprints of what the objective reads of each language; None: everything.
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
        names = [language.name for language in self.languages.languages if language.name != SOURCE]
        identity = {
            "data": self.inputs or self.languages.identity(*names),
            "languages": names,
            "objective": plain(self.objective),
            "model": plain(self.model),
            "train": self.train.recipe,
            "seed": self.seed,
            "world": world.size,
            **world.machine,
        }
        if self.start:
            identity["start"] = sha256(weights_file(self.start))
        if self.mixture != ALL_TOGETHER:
            identity["mixture"] = plain(self.mixture)
        if links := [links.fingerprint for links in self.languages.estimates.values()]:
            identity["links"] = links
        return identity

    def initial(self) -> Any:
        """Return the model to start from, with rows for all types."""
        embeddings = self.objective.traits.language_embeddings
        return initial_model(self.start, self.model, self.languages.whole, embeddings, self.seed)


def pretrain(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    allow_change: bool = False,
) -> Path:
    """Train, or resume training, until the folder contains a checkpoint; return the checkpoint's folder.
    `allow_change` permits resuming on a different machine. Raises BadInput if the folder belongs to another
    configuration, files are damaged, or the starting model, objective or corpora do not match the config."""
    identity = config.identity(world)
    if finished(folder):
        artefact = Artefact.open(folder, RUN)
        check_identity(artefact, identity, any_machine=True)
        artefact.verify()
    elif mistakes := config.objective.mistakes(config.model):
        raise BadInput(mistakes)
    else:
        _Run(folder, config, world, identity, allow_change).train(probe, progress)
    return folder / CHECKPOINT


class _Run:
    def __init__(
        self, folder: Path, config: Pretraining, world: World, identity: Mapping[str, Any], allow_change: bool
    ) -> None:
        self.folder, self.config, self.world, schedule = folder, config, world, config.train
        self.languages = config.mixture.read(config.languages)
        self.streams = config.objective.streams(self.languages, config.model.length, config.seed)
        self.model = config.initial()
        if self.languages.kept is not None:
            self.model = with_rows(self.model, self.languages.kept, self.languages.specials.pad)
        self.learner = config.objective.learner(self.model, config.seed).to(world.device)
        if world.device.type == "cuda":
            compile_layers(self.model)
        self.optimizer = make_optimizer(self.learner, schedule)
        trained = self.learner, self.optimizer
        self.step, state = load_state(folder / RESUME, *trained, identity, allow_change)
        claims = state.facts.get(CLAIMS, "") if state else config.claims
        self.facts = {"identity": identity, **({CLAIMS: claims} if claims else {})}
        ids, rows = schedule.batch * config.model.length, state.path(METRICS).read_bytes() if state else b""
        self.metrics = Metrics(folder / METRICS, schedule, self.streams, ids, world.first, rows)

    def train(self, probe: Probe | None, progress: Callable[[int, int], None]) -> None:
        config, world, schedule = self.config, self.world, self.config.train
        draws = Draws(self.streams, schedule.batch, config.seed, config.mixture)
        trained = self.learner, self.optimizer, draws, schedule, world, self.step, self.is_due
        try:
            for step, losses, norm in train(*trained):
                self.after(step, losses, norm, probe)
                progress(step, schedule.steps)
        except torch.OutOfMemoryError as error:
            error.add_note(f"with --set train.grad_accumulation={2 * schedule.grad_accumulation}")
            raise
        if world.first:
            self.finish()
        world.wait()

    def is_due(self, step: int) -> bool:
        """Whether a row, probe or state follows this step."""
        schedule = self.config.train
        intervals = (schedule.log_every, schedule.probe_every, schedule.save_every)
        due = any(interval and step % interval == 0 for interval in intervals)
        return due or self.world.device.type == "cpu"

    def after(self, step: int, losses: dict[str, float], norm: float, probe: Probe | None) -> None:
        schedule, first, last = self.config.train, self.world.first, step == self.config.train.steps
        self.metrics.add(step, losses, norm)
        start = time.perf_counter()
        if probe and first and schedule.probe_every and (step % schedule.probe_every == 0 or last):
            self.metrics.write({"step": step, **probe(self.model)})
            self.learner.train()  # the probe may have changed the mode
        if schedule.save_every and step % schedule.save_every == 0 and not last:
            if first:
                trained = self.learner, self.optimizer
                save_state(self.folder / RESUME, step, *trained, self.metrics.path, self.facts)
            self.world.wait()
        self.metrics.since += time.perf_counter() - start  # not counted in the measured speed

    def finish(self) -> None:
        """Write the checkpoint, with rows for all types, and the manifest."""
        sync(self.metrics.path)
        model, languages = self.model, self.languages
        if languages.kept is not None:
            model = self.config.initial()
            put_back(self.model, languages.kept, model)
        facts = {
            "left out": dict(sum((Counter(stream.left_out) for stream in self.streams), Counter())),
            **self.facts,
        }
        finish(self.folder, model, languages.whole, facts)


def finish(folder: Path, model: Any, languages: Languages, facts: dict[str, Any]) -> None:
    """Write the checkpoint and then the manifest, and remove saved states."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    with whole_folder(folder / CHECKPOINT) as part:
        with writing_tensors(part / WEIGHTS):
            model.save_pretrained(part)
        write_tokenizers(languages, part, row_length(model.config))
    sweep(folder)
    write_manifest(folder, RUN, {**facts, TRAINED_ON: languages.folder.name}, leave_out=RESUME)
    remove_states(folder / RESUME)
    with suppress(OSError):  # the folder is missing, or contains the user's files
        (folder / RESUME).rmdir()


class Metrics:
    """Writes a run's metrics, such as mean losses since the last row and the speed, given `ids` ids per step,
    after `rows`, written before the run was resumed."""

    def __init__(
        self, path: Path, config: TrainConfig, streams: Sequence[Stream], ids: int, writes: bool, rows: bytes
    ) -> None:
        self.path, self.train, self.ids, self.writes = path, config, ids, writes
        self.terms = {name for stream in streams for name in stream.weights}
        self.sums = defaultdict[str, float](float)
        self.steps, self.since = 0, time.perf_counter()
        if writes:
            with whole_file(path) as part:
                part.write_bytes(rows)

    def add(self, step: int, losses: Mapping[str, float], norm: float) -> None:
        for name, loss in losses.items():
            self.sums[name] += loss
        self.steps += 1
        if step % self.train.log_every and step < self.train.steps:
            return
        row: dict[str, Any] = {"step": step, "of": self.train.steps, "tokens": step * self.ids, "loss": {}}
        for name, total in self.sums.items():
            kind = "loss" if name in self.terms else "reported"
            row.setdefault(kind, {})[name] = total / self.steps
        speed = self.steps * self.ids / (time.perf_counter() - self.since)
        rate = learning_rate(self.train.learning_rate, step - 1, self.train.warmup, self.train.steps)
        self.write(row | {"gradient norm": norm, "learning rate": rate, "tokens/s": speed})
        self.sums.clear()
        self.steps, self.since = 0, time.perf_counter()

    def write(self, row: Mapping[str, Any]) -> None:
        if self.writes:
            with writing(self.path), self.path.open("ab") as file:
                file.write((json.dumps(row) + "\n").encode())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read the rows of an intact metrics file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class ShippedRun:
    """A run in a safetensors file of half-precision weights, with manifests and metrics as metadata."""

    file: Path
    name: str

    def identity(self) -> str:
        return sha256(self.file)

    def unpack(self, folder: Path, config: Pretraining) -> None:
        """Write the run's folder as `pretrain` does, in single precision."""
        run, model = runs_of(self.file)[self.name], config.initial()
        tensors = tensor_files.load_file(self.file)
        with torch.no_grad():
            for name, weights in state_of(model).items():
                weights.copy_(tensors[f"{self.name}/{name}"])
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / METRICS) as part:
            part.write_text(run["metrics"], encoding="utf-8", newline="\n")
        finish(folder, model, config.languages.whole, {**run["facts"], "shipped": self.identity()})


@cache
def runs_of(file: Path) -> dict[str, dict[str, Any]]:
    """Return each run's facts and metrics. Raises BadInput if the file is missing or damaged."""
    with reading_tensors(file), safe_open(file, framework="pt") as tensors:
        return {name: parse_json(text) for name, text in (tensors.metadata() or {}).items()}


def save_state(
    folder: Path, step: int, learner: Learner, optimizer: Optimizer, rows: Path, facts: Mapping[str, Any]
) -> None:
    """Write the state to `folder/step-N`, with a copy of the metrics file `rows`; remove earlier states."""
    new = folder / f"step-{step:09d}"
    with making(new, STATE, dict(facts)) as part:
        shutil.copy(rows, part / METRICS)
        save_tensors(state_of(learner), part / WEIGHTS)
        moments: dict[str, Tensor] = {}
        for name, parameter in learner.trained.items():
            moments |= {f"{kind}.{name}": optimizer.state[parameter][kind] for kind in KINDS}
        save_tensors(moments, part / MOMENTS)
    remove_states(folder, new)


def remove_states(folder: Path, last: Path | None = None) -> None:
    """Remove a run's states except `last`, but not the user's files and links."""
    sweep(folder)
    for old in folder.glob(STEP):
        if old != last and old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)


def load_state(
    folder: Path,
    learner: Learner,
    optimizer: Optimizer,
    identity: Mapping[str, Any],
    allow_change: bool = False,
) -> tuple[int, Artefact | None]:
    """Load the latest state; return its step and the state, or 0 and None. Raises BadInput if it is damaged
    or its identity differs; `allow_change` permits differences in MACHINE keys."""
    if not (states := sorted(folder.glob(STEP))):
        return 0, None
    last = states[-1]
    if not finished(last):
        raise BadInput("this state is incomplete; remove it to start without it", last)
    state = Artefact.open(last, STATE)
    check_identity(state, identity, allow_change)
    restore(state_of(learner), state.path(WEIGHTS))
    moments = tensor_files.load_file(state.path(MOMENTS))
    for name, parameter in learner.trained.items():
        for kind in KINDS:  # copies, because the file will be removed
            optimizer.state[parameter][kind] = moments[f"{kind}.{name}"].to(parameter.device, copy=True)
    return _step(last), state


def _step(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def check_identity(artefact: Artefact, now: Mapping[str, Any], any_machine: bool) -> None:
    """Raise BadInput if a run's configuration or (unless `any_machine`) machine has changed."""
    saved = artefact.facts["identity"]
    for key in sorted((saved.keys() | now.keys()) - (MACHINE if any_machine else set())):
        if saved.get(key) != now.get(key):
            hint = "; --allow-change continues anyway, with different rounding" if key in MACHINE else ""
            message = f"this run was started with {key} {saved.get(key)!r}, not {now.get(key)!r}{hint}"
            raise BadInput(message, artefact.folder / MANIFEST)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a safetensors file; an OSError names the file."""
    with writing_tensors(path):
        tensor_files.save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


@contextmanager
def writing_tensors(path: Path) -> Iterator[None]:
    """Convert safetensors' errors while writing `path` to OSError."""
    try:
        yield
    except SafetensorError as error:
        number = int((re.findall(r"os error (\d+)", str(error)) or [errno.EIO])[0])
        raise OSError(number, os.strerror(number), str(path)) from error


def restore(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy a file's tensors into tensors with the same names and shapes, or raise BadInput."""
    with reading_tensors(path):
        saved = tensor_files.load_file(path)
    shapes, expected = ({name: tensor.shape for name, tensor in them.items()} for them in (saved, tensors))
    if wrong := sorted(name for name, _ in shapes.items() ^ expected.items()):
        raise BadInput(f"{wrong[0]} is missing here or in the model, or has another shape", path)
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(saved[name])
