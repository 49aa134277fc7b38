"""The state of a run on disk: whole, checked, and enough to go on to the same bits.

Nothing random is kept: every step draws from (seed, step), so weights, AdamW's moments and the number of
the step, which is in the folder's name, are all there is to a run.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from derive.errors import BadInput
from derive.files import MANIFEST, sha256, whole_folder, write_json

WEIGHTS, MOMENTS = "model.safetensors", "optimizer.safetensors"
MACHINE = frozenset({"threads", "world", "torch", "device"})
"""What of a run's identity says where it is computed: it decides bits, not what is learnt."""


def save_state(
    folder: Path, step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer, identity: dict[str, Any]
) -> None:
    """Write `folder/step-N` and then remove what came before it; a full disk leaves the last one as it was."""
    new = folder / f"step-{step:09d}"
    with whole_folder(new) as part:
        save_file(dict(model.named_parameters()), part / WEIGHTS)
        save_file(_moments(model, optimizer), part / MOMENTS)
        files = {name: sha256(part / name) for name in (WEIGHTS, MOMENTS)}
        write_json(part / MANIFEST, {"identity": identity, "sha256": files})
    for old in folder.iterdir():  # earlier states, and the unfinished ones of processes that were killed
        if old != new:
            shutil.rmtree(old)


def load_state(
    folder: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    identity: dict[str, Any],
    allow_change: bool = False,
) -> int:
    """Load the last state below `folder`, if there is one, and return its step (0 if there is none).

    Raises:
        BadInput: the state is damaged, or was made by another configuration or machine (`allow_change` lets
            what is in MACHINE differ).
    """
    states = sorted(folder.glob("step-*"))
    if not states:
        return 0
    state = states[-1]
    check_identity(state, read_manifest(state)["identity"], identity, MACHINE if allow_change else frozenset())
    weights, moments = load_file(state / WEIGHTS), load_file(state / MOMENTS)
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            parameter.copy_(weights[name])
        optimizer.state[parameter] = {
            kind: moments[f"{kind}.{name}"].to(parameter.device) for kind in ("step", "exp_avg", "exp_avg_sq")
        }
    return int(state.name.removeprefix("step-"))


def read_manifest(folder: Path) -> dict[str, Any]:
    """A folder's manifest, after every file that it names was found to have its sha256.

    Raises:
        BadInput: it is not whole.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found = {name: sha256(folder / name) for name in manifest["sha256"]}
        damaged = [name for name, digest in found.items() if digest != manifest["sha256"][name]]
        if not manifest["identity"] or not found:
            raise ValueError("it names no identity or no files")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"not a whole checkpoint ({error!r}); remove {folder} to start without it", path) from error
    if damaged:
        raise BadInput(
            f"not what was saved: its sha256 differs; remove {folder} to start without it", folder / damaged[0]
        )
    return dict(manifest)


def check_identity(folder: Path, saved: dict[str, Any], now: dict[str, Any], may_differ: frozenset[str]) -> None:
    """Refuse a folder that another configuration, or another machine, began.

    Raises:
        BadInput: naming the first difference and both values.
    """
    for key in sorted((saved.keys() | now.keys()) - may_differ):
        if saved.get(key) != now.get(key):
            hint = "; --allow-change goes on all the same, to other bits" if key in MACHINE else ""
            raise BadInput(
                f"this run was begun with {key} {saved.get(key)!r}, not {now.get(key)!r}{hint}", folder / MANIFEST
            )


def _moments(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{kind}.{name}": value
        for name, parameter in model.named_parameters()
        for kind, value in optimizer.state[parameter].items()
    }
