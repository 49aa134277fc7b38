"""The state of a run on disk: whole, checked, and enough to go on to the same bits.

Nothing random is kept: every step draws from (seed, step), so the learner's parameters and buffers, AdamW's moments and
the number of the step are all there is to a run. A state names its run and its step.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from derive.artefact import Artefact, finished, making
from derive.errors import BadInput
from derive.files import MANIFEST
from pretrain.learner import Learner

STATE = "the state of a run"
WEIGHTS, MOMENTS = "model.safetensors", "optimizer.safetensors"
KINDS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW remembers of a parameter."""
MACHINE = frozenset({"threads", "world", "torch", "device"})
"""What of a run's identity says where it is computed: it decides bits, not what is learnt."""
_STEP = re.compile(r"step-(\d{9,})")


def save_state(
    folder: Path,
    step: int,
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    identity: Mapping[str, Any],
    beside: Mapping[str, Any],
) -> None:
    """Write `folder/step-N` and then remove what came before it; a full disk leaves the last one as it was.

    `beside` is what `Metrics.sealed` and `Snapshots.sealed` say of the rows and the snapshots that belong to the state.
    """
    new = folder / f"step-{step:09d}"
    with making(new, STATE, {**_owner(folder, step), "identity": identity, "metrics": beside}) as part:
        save_tensors(learner.state, part / WEIGHTS)
        save_tensors(_moments(learner, optimizer), part / MOMENTS)
    for old in folder.iterdir():  # earlier states, and the unfinished ones of processes that were killed
        if old.is_dir() and not old.is_symlink() and old != new:
            shutil.rmtree(old)


def load_state(
    folder: Path,
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    identity: Mapping[str, Any],
    allow_change: bool = False,
) -> tuple[int, dict[str, Any]]:
    """Load the last state below `folder`, if there is one; its step and what it says of what lies beside it.

    Without one that is 0, and nothing.

    Raises:
        BadInput: the state is damaged, is of another run or step than its place says, or was made by another
            configuration or machine (`allow_change` lets what is in MACHINE differ).
    """
    steps = {int(named[1]): path for path in folder.glob("step-*") if (named := _STEP.fullmatch(path.name))}
    if not steps:
        return 0, {}
    step = max(steps)
    if not finished(steps[step]):
        raise BadInput("an incomplete state; remove it to start without it", steps[step])
    state = Artefact.open(steps[step], STATE)
    for key, expected in _owner(folder, step).items():
        if (found := state.facts.get(key)) != expected:
            message = f"the state of {key} {found}; expected {expected}: remove it to start without it"
            raise BadInput(message, state.folder / MANIFEST)
    check_identity(state, identity, MACHINE if allow_change else frozenset())
    restore(learner.state, load_file(state.path(WEIGHTS)), state.path(WEIGHTS))
    moments = load_file(state.path(MOMENTS))
    _check_names({f"{kind}.{name}" for name in learner.trained for kind in KINDS}, moments, state.path(MOMENTS))
    for name, parameter in learner.trained.items():
        optimizer.state[parameter] = {kind: moments[f"{kind}.{name}"].to(parameter.device) for kind in KINDS}
    return step, dict(state.facts["metrics"])


def _owner(folder: Path, step: int) -> dict[str, Any]:
    """Which run has its states in a folder, by the name of the run's own folder, and the step of one of them."""
    return {"run": folder.absolute().parent.name, "step": step}


def check_identity(made: Artefact, now: Mapping[str, Any], may_differ: frozenset[str]) -> None:
    """Refuse a folder that another configuration, or another machine, began.

    Raises:
        BadInput: naming the first difference and both values.
    """
    saved = made.facts["identity"]
    for key in sorted((saved.keys() | now.keys()) - may_differ):
        if saved.get(key) != now.get(key):
            hint = "; --allow-change goes on all the same, to other bits" if key in MACHINE else ""
            raise BadInput(
                f"this run was begun with {key} {saved.get(key)!r}, not {now.get(key)!r}{hint}", made.folder / MANIFEST
            )


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors.

    Raises:
        OSError: they cannot be written; it names the file.
    """
    with writing_tensors(path):
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


@contextmanager
def writing_tensors(path: Path) -> Iterator[None]:
    """Raise the system's own error where safetensors cannot write the file `path`, for its error is not an OSError."""
    try:
        yield
    except SafetensorError as error:
        found = re.search(r"os error (\d+)", str(error))
        number = int(found[1]) if found else errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


def restore(tensors: Mapping[str, Tensor], saved: Mapping[str, Tensor], path: Path) -> None:
    """Give tensors the values that were saved under their names in the file `path`, in place.

    Raises:
        BadInput: the names or the shapes are others.
    """
    _check_names(tensors.keys(), saved, path)
    with torch.no_grad():
        for name, tensor in tensors.items():
            if tensor.shape != saved[name].shape:
                raise BadInput(f"{name} is {tuple(saved[name].shape)}, not {tuple(tensor.shape)}", path)
            tensor.copy_(saved[name])


def _check_names(names: Set[str], saved: Mapping[str, Tensor], path: Path) -> None:
    if wrong := sorted(names ^ saved.keys()):
        raise BadInput(f"a state of other parameters or buffers, such as {wrong[0]}", path)


def _moments(learner: Learner, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{kind}.{name}": optimizer.state[parameter][kind]
        for name, parameter in learner.trained.items()
        for kind in KINDS
    }
