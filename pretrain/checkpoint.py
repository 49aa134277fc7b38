"""Saved states for resuming runs bit-identically, and snapshots of the weights."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

from calque.derive.artefact import Artefact, finished, making
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, sweep, sync, whole_file
from calque.derive.fingerprint import sha256
from calque.pretrain.config import TrainConfig
from calque.pretrain.lazy import Optimizer, Tensor, tensor_files, torch
from calque.pretrain.model import state_of

if TYPE_CHECKING:
    from calque.pretrain.modules import Learner

STATE = "the state of a run"
WEIGHTS, MOMENTS = "model.safetensors", "optimizer.safetensors"
SNAPSHOTS, METRICS = "snapshots", "metrics.jsonl"
KINDS = ("step", "exp_avg", "exp_avg_sq")  # AdamW's state tensors for each parameter
MACHINE = {"threads", "world", "torch", "device", "instructions"}
"""Keys of a run's identity that affect only rounding."""
_STEP = re.compile(r"step-(\d{9,})")


def save_state(
    folder: Path,
    step: int,
    learner: Learner,
    optimizer: Optimizer,
    identity: Mapping[str, Any],
    rows: Path,
    snapshots: Mapping[str, str],
    facts: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write the state to `folder/step-N`, with a copy of the metrics file `rows`, the digests of `snapshots`
    by name, and any other `facts`; then remove earlier states."""
    new = folder / f"step-{step:09d}"
    with making(new, STATE, {"identity": identity, SNAPSHOTS: snapshots, **facts}) as part:
        shutil.copy(rows, part / METRICS)
        save_tensors(state_of(learner), part / WEIGHTS)
        moments: dict[str, Tensor] = {}
        for name, parameter in learner.trained.items():
            moments |= {f"{kind}.{name}": optimizer.state[parameter][kind] for kind in KINDS}
        save_tensors(moments, part / MOMENTS)
    remove_states(folder, new)


def _states(folder: Path) -> dict[int, Path]:
    found = {}
    for path in folder.glob("step-*"):
        if named := _STEP.fullmatch(path.name):
            found[int(named[1])] = path
    return found


def remove_states(folder: Path, last: Path | None = None) -> None:
    """Remove all of a run's states except `last`, including incomplete states left by killed processes."""
    sweep(folder)
    for old in _states(folder).values():
        if old != last and old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)


def load_state(
    folder: Path,
    learner: Learner,
    optimizer: Optimizer,
    identity: Mapping[str, Any],
    allow_change: bool = False,
) -> tuple[int, Artefact | None]:
    """Load the latest state in `folder`, and return its step and the state, or 0 and None if there is no
    state. Raises BadInput if the state is damaged or has a different identity; `allow_change` permits
    differences in MACHINE keys."""
    if not (states := _states(folder)):
        return 0, None
    step, last = max(states.items())
    if not finished(last):
        raise BadInput("this state is incomplete; remove it to start without it", last)
    state = Artefact.open(last, STATE)
    check_identity(state, identity, allow_change)
    restore(state_of(learner), state.path(WEIGHTS))
    moments = {}
    for name, parameter in learner.trained.items():
        for kind in KINDS:
            moment = torch.empty_like(parameter, requires_grad=False)
            if kind == "step":
                moment = torch.empty((), dtype=torch.float32, device=parameter.device)
            moments[f"{kind}.{name}"] = optimizer.state[parameter][kind] = moment
    restore(moments, state.path(MOMENTS))
    return step, state


def check_identity(artefact: Artefact, now: Mapping[str, Any], any_machine: bool) -> None:
    """Raise BadInput if a run's configuration or, unless `any_machine` is true, its machine has changed."""
    saved = artefact.facts["identity"]
    for key in sorted((saved.keys() | now.keys()) - (MACHINE if any_machine else set())):
        if saved.get(key) != now.get(key):
            hint = "; --allow-change continues anyway, with different rounding" if key in MACHINE else ""
            message = f"this run was started with {key} {saved.get(key)!r}, not {now.get(key)!r}{hint}"
            raise BadInput(message, artefact.folder / MANIFEST)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a safetensors file; raise an OSError that names the file if this fails."""
    with writing_tensors(path):
        tensor_files.save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


@contextmanager
def writing_tensors(path: Path) -> Iterator[None]:
    """Convert errors that safetensors raises while writing `path` to OSError."""
    try:
        yield
    except SafetensorError as error:
        found = re.search(r"os error (\d+)", str(error))
        number = int(found[1]) if found else errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


def restore(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy a file's tensors into tensors with the same names and shapes; raise BadInput if the names or
    shapes differ."""
    try:
        saved = tensor_files.load_file(path)
    except (OSError, SafetensorError) as error:
        raise BadInput(f"cannot load weights: {error}", path) from None
    if wrong := sorted(tensors.keys() ^ saved.keys()):
        raise BadInput(f"{wrong[0]} is missing here or in the model", path)
    with torch.no_grad():
        for name, tensor in tensors.items():
            if tensor.shape != saved[name].shape:
                raise BadInput(f"{name} is {tuple(saved[name].shape)}, not {tuple(tensor.shape)}", path)
            tensor.copy_(saved[name])


class Snapshots:
    """The snapshots of a run in progress. When the run is resumed, the snapshots listed in its state are
    verified, and later ones are removed, because training will write them again."""

    def __init__(self, folder: Path, config: TrainConfig, writes: bool, state: Artefact | None) -> None:
        self.folder, self.steps = folder / SNAPSHOTS, frozenset(config.kept if writes else ())
        self.digests: dict[str, str] = dict(state.facts[SNAPSHOTS]) if writes and state else {}
        for name, digest in self.digests.items():
            path = self.folder / name
            if not path.is_file() or sha256(path) != digest:
                fault = "this is not the snapshot listed in the state to resume from"
                raise BadInput(f"{fault}; remove {folder} to start from the beginning", path)
        for path in self.folder.glob("*.safetensors") if writes else ():
            if path.name not in self.digests and _STEP.fullmatch(path.stem):
                path.unlink()

    def add(self, step: int, model: Any) -> None:
        """Save a snapshot after `step` if one is due and does not exist yet."""
        name = f"step-{step:09d}.safetensors"
        if step in self.steps and name not in self.digests:
            with whole_file(self.folder / name) as part:
                save_tensors(state_of(model), part)
            sync(self.folder)  # must be on disk before a state lists it
            self.digests[name] = sha256(self.folder / name)


def snapshots_of(run: Artefact) -> dict[int, str]:
    """Return a finished run's snapshots by step, in ascending order."""
    steps = {}
    for name in sorted(run.digests):
        path = Path(name)
        if path.parent.name == SNAPSHOTS and (named := _STEP.fullmatch(path.stem)):
            steps[int(named[1])] = name
    if not steps:
        raise BadInput("this run saved no snapshots; set train.snapshots to save some", run.folder)
    return dict(sorted(steps.items()))


def load_snapshot(model: Any, path: Path) -> None:
    """Load a snapshot's weights into a model of the same shape."""
    restore(state_of(model), path)
