"""Pretraining runs, from languages to a checkpoint.

<run>/checkpoint/             a model and tokenizer that transformers can load
<run>/checkpoint/tokenizers/  for each language, a tokenizer that encodes and decodes text in its spelling
<run>/metrics.jsonl           one row every log_every steps, and one row per probe
<run>/snapshots/              the model's weights after certain steps, if `train.snapshots` is set
<run>/resume/step-N/          the latest state, until the run is finished
<run>/manifest.json           written last: the inputs, and the sha256 of all files
"""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from calque.pretrain.distributed import World
from calque.pretrain.lazy import torch
from calque.pretrain.mixture import ALL_TOGETHER, Mixture
from calque.pretrain.model import compile_layers
from calque.pretrain.objective import Objective, Stream
from calque.pretrain.saved_model import RUN, WEIGHTS, weights_digest
from calque.pretrain.saved_tokenizer import write_tokenizers
from calque.pretrain.start import InitialModel
from calque.pretrain.train import make_optimizer, train

CHECKPOINT, RESUME = "checkpoint", "resume"
PARTS, TRAINED_ON, CLAIMS = "micro-batches", "languages folder", "claims"
"""Manifest keys."""
Probe = Callable[[Any], dict[str, Any]]  # returns a row for metrics.jsonl with its numbers under "probe"


@dataclass(frozen=True)
class Pretraining:
    """All settings that determine a run's weights, apart from the machine.

    languages: the languages to read, with estimated links for their bitexts if the objective needs them.
    start: the folder of the model to start from, which must have the same shape and vocabulary; None for
        random weights.
    claims: a digest of the study's primary claims, which is only recorded in the manifest.
    inputs: fingerprints of the parts of each language that the objective reads; None for all parts.
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
        """Return all values that must not change if a resumed run is to be bit-identical."""
        names = [language.name for language in self.languages.languages if language.name != SOURCE]
        optional = {
            "start": weights_digest(self.start) if self.start else None,
            "mixture": plain(self.mixture) if self.mixture != ALL_TOGETHER else None,
            "links": [links.fingerprint for links in self.languages.estimates.values()] or None,
        }
        return {name: value for name, value in optional.items() if value is not None} | {
            "data": self.inputs or self.languages.identity(*names),
            "languages": names,
            "objective": plain(self.objective),
            "model": plain(self.model),
            "train": self.train.recipe,
            "seed": self.seed,
            "world": world.size,
            **world.machine,
        }


def pretrain(
    folder: Path,
    config: Pretraining,
    world: World,
    probe: Probe | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    allow_change: bool = False,
    notify: Callable[[str], None] = lambda message: None,
) -> Path:
    """Train, or resume training, until the folder contains a checkpoint, and return the checkpoint's folder.
    `probe` returns the numbers to record every `probe_every` steps. `notify` is called with messages about
    weights that the starting model lacks and about memory. `allow_change` permits resuming on a different
    machine, with different rounding. Raises BadInput if the folder belongs to a different configuration, a
    state or checkpoint is damaged, the starting model or the objective does not suit the model's shape, or a
    corpus is too small to fill a row."""
    identity = config.identity(world)
    if finished(folder):
        finished_run = Artefact.open(folder, RUN)
        check_identity(finished_run, identity, any_machine=True)
        finished_run.verify()
        return folder / CHECKPOINT
    if mistakes := config.objective.mistakes(config.model):
        raise BadInput(mistakes)
    parts: int | None = config.train.micro_batches
    while parts:
        run = _Run(folder, config, world, identity, probe, progress, notify)
        run.resume(parts, allow_change)
        parts = run.train()
        del run
        gc.collect()  # free GPU memory for the next attempt
    return folder / CHECKPOINT


@dataclass
class _Run:
    """A run in progress: the model, its optimizer, and the files written during training."""

    folder: Path
    config: Pretraining
    world: World
    identity: Mapping[str, Any]
    probe: Probe | None
    progress: Callable[[int, int], None]
    notify: Callable[[str], None]

    def __post_init__(self) -> None:
        config, objective = self.config, self.config.objective
        embeddings = objective.traits.language_embeddings
        self.languages = config.mixture.read(config.languages)
        self.streams = objective.streams(self.languages, config.model.length, config.seed)
        self.initial = InitialModel(config.start, config.model, self.languages, embeddings, config.seed)
        self.model, self.drawn = self.initial.load()
        self.learner = objective.learner(self.model, config.seed).to(self.world.device)
        if self.world.device.type == "cuda":
            compile_layers(self.model)
        else:
            from calque.pretrain.onednn import use_onednn

            use_onednn(self.learner, config.model.length)
        if self.drawn and self.world.first:
            self.notify(f"random, because the starting model lacks them: {', '.join(self.drawn)}")
        self.optimizer = make_optimizer(self.learner, config.train)

    def resume(self, parts: int, allow_change: bool) -> None:
        """Load the latest state, if any, and prepare to continue with at least `parts` micro-batches."""
        config, writes, saved = self.config, self.world.first, self.folder / RESUME
        self.first, state = load_state(saved, self.learner, self.optimizer, self.identity, allow_change)
        self.parts = max(parts, state.facts.get(PARTS, 1) if state else 1)
        claims = state.facts.get(CLAIMS, "") if state else config.claims
        auto = config.train.grad_accumulation == "auto"
        self.facts = ({PARTS: self.parts} if auto else {}) | ({CLAIMS: claims} if claims else {})
        ids = config.train.batch * config.model.length
        rows = state.path(METRICS) if state else None
        self.metrics = Metrics(self.folder, config.train, self.streams, ids, writes, rows)
        self.snapshots = Snapshots(self.folder, config.train, writes, state)
        self.snapshots.add(self.first, self.model)

    def train(self) -> int | None:
        """Train to the end and write the checkpoint. If memory runs out, return a larger number of
        micro-batches for resuming from the last saved state."""
        config, world = self.config, self.world
        try:
            draws = train(
                self.learner,
                self.optimizer,
                self.streams,
                replace(config.train, grad_accumulation=self.parts),
                config.seed,
                world,
                self.first,
                self.after,
                config.mixture,
                self.acts_after,
            )
        except torch.OutOfMemoryError as error:
            return self.smaller_parts(error)
        if world.first:
            self.finish(draws.shown(config.train.steps))
        world.wait()
        return None

    def acts_after(self, step: int) -> bool:
        """Whether `after` must be called immediately after this step, to write a row, probe or save."""
        schedule = self.config.train
        every = (schedule.log_every, schedule.probe_every, schedule.save_every)
        due = any(n and step % n == 0 for n in every) or step in schedule.kept
        return due or self.world.device.type == "cpu"

    def after(self, step: int, losses: dict[str, float], norm: float) -> None:
        """Write whatever is due after a step: a row of metrics, a snapshot, a probe or the state."""
        schedule, first = self.config.train, self.world.first
        last = step == schedule.steps
        self.metrics.add(step, losses, norm)
        start = time.perf_counter()
        self.snapshots.add(step, self.model)
        if self.probe and first and schedule.probe_every and (step % schedule.probe_every == 0 or last):
            self.metrics.write({"step": step, **self.probe(self.model)})
            self.learner.train()  # the probe may have changed the mode
        if schedule.save_every and step % schedule.save_every == 0 and not last:
            if first:
                trained, files = (self.learner, self.optimizer), (self.metrics.path, self.snapshots.digests)
                save_state(self.folder / RESUME, step, *trained, self.identity, *files, self.facts)
            self.world.wait()
        self.metrics.since += time.perf_counter() - start  # not counted in the measured speed
        self.progress(step, schedule.steps)

    def smaller_parts(self, error: torch.OutOfMemoryError) -> int:
        """Return the next number of micro-batches to try, or raise the error with advice."""
        batch, alone = self.config.train.batch, self.world.size == 1
        more = 2 * self.parts
        if PARTS in self.facts and alone and self.parts < batch:
            more = min(more, batch)
            self.notify(f"the GPU ran out of memory; resuming with {more} micro-batches per step")
            return more
        if self.parts * self.world.size < batch:
            error.add_note(f"with --set train.grad_accumulation={'auto' if alone else more}")
        raise error

    def finish(self, shown: Mapping[str, Any]) -> None:
        sync(self.metrics.path)
        whole = self.initial.complete(self.model, self.identity.get("start"))
        left_out = sum((Counter(stream.left_out) for stream in self.streams), Counter())
        facts = {"identity": self.identity, "left out": dict(left_out), "drawn": self.drawn, **self.facts}
        facts |= {TRAINED_ON: self.languages.folder.name, "shown": shown}
        if self.languages.disjoint:
            facts["halves"] = {language.name: len(language.corpus) for language in self.languages.languages}
        finish(self.folder, whole, self.languages.whole, facts)


def finish(folder: Path, model: Any, languages: Languages, facts: dict[str, Any]) -> None:
    """Write the checkpoint and then the manifest, and finally remove saved states."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    with whole_folder(folder / CHECKPOINT) as part:
        with writing_tensors(part / WEIGHTS):
            model.save_pretrained(part)
        write_tokenizers(languages, part, architecture_of(model.config).length(model.config))
    sweep(folder)
    write_manifest(folder, RUN, facts, leave_out=(RESUME,))
    remove_states(folder / RESUME)
    with suppress(OSError):  # it is missing, or contains the user's files
        (folder / RESUME).rmdir()


class Metrics:
    """Writes a run's metrics: mean losses since the previous row, and speed. A resumed run keeps the rows in
    the file `rows`."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        streams: Sequence[Stream],
        ids: int,
        writes: bool,
        rows: Path | None,
    ) -> None:
        self.path, self.train, self.ids, self.writes = folder / METRICS, config, ids, writes
        self.terms = {name for stream in streams for name in stream.weights}
        self.sums: dict[str, float] = {}
        self.steps, self.since = 0, time.perf_counter()
        if writes:
            with whole_file(self.path) as part:
                part.write_bytes(rows.read_bytes() if rows else b"")

    def add(self, step: int, losses: Mapping[str, float], norm: float) -> None:
        """Record a step; write a row every `log_every` steps and after the last step."""
        self.sums = {name: self.sums.get(name, 0.0) + loss for name, loss in losses.items()}
        self.steps += 1
        if step % self.train.log_every and step < self.train.steps:
            return
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
                "tokens/s": self.steps * self.ids / (time.perf_counter() - self.since),
            }
        )
        self.sums, self.steps, self.since = {}, 0, time.perf_counter()

    def write(self, row: Mapping[str, Any]) -> None:
        if self.writes:
            with writing(self.path), self.path.open("ab") as file:
                file.write((json.dumps(row) + "\n").encode())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read the rows in a run's metrics.jsonl."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read metrics: {error}", path) from error
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = strict_json.loads(line)
            if not isinstance(row["step"], int) or not {"loss", "probe"} & row.keys():
                raise ValueError("the row contains neither losses nor a probe")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"this is not a row of metrics ({error})", path, number) from error
        rows.append(row)
    return rows
