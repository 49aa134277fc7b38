"""The state of a run on disk: whole, checked, and enough to go on to the same bits.

Nothing random is kept: every step draws from (seed, step), so weights, AdamW's moments and the number of
the step are all there is to a run.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from derive.errors import BadInput
from derive.files import MANIFEST, sha256, whole_folder, write_json

WEIGHTS, MOMENTS = "model.safetensors", "optimizer.safetensors"


def save_state(
    folder: Path, step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer, identity: dict[str, Any]
) -> None:
    """Write `folder/step-N` and then remove what came before it; a full disk leaves the last one as it was."""
    new = folder / f"step-{step:09d}"
    with whole_folder(new) as part:
        save_file(dict(model.named_parameters()), part / WEIGHTS)
        save_file(_moments(model, optimizer), part / MOMENTS)
        files = {name: sha256(part / name) for name in (WEIGHTS, MOMENTS)}
        write_json(part / MANIFEST, {"step": step, "identity": identity, "sha256": files})
    for old in folder.glob("step-*"):
        if old != new:
            shutil.rmtree(old)


def load_state(
    folder: Path,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    identity: dict[str, Any],
    changed: bool = False,
) -> int:
    """Load the last state below `folder`, if there is one, and return its step (0 if there is none).

    Raises:
        BadInput: the state is damaged, or was made by another configuration, world, thread count or torch
            (`changed=True` lets the last three differ).
    """
    states = sorted(folder.glob("step-*"))
    if not states:
        return 0
    state = states[-1]
    manifest = read_manifest(state)
    _check_identity(state, manifest["identity"], identity, changed)
    parameters = dict(model.named_parameters())
    weights = load_file(state / WEIGHTS)
    moments = load_file(state / MOMENTS)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    for name, parameter in parameters.items():
        optimizer.state[parameter] = {
            kind: moments[f"{kind}.{name}"].to(
                "cpu" if kind == "step" and parameter.device.type == "cpu" else parameter.device
            )
            for kind in ("step", "exp_avg", "exp_avg_sq")
        }
    return int(manifest["step"])


def read_manifest(folder: Path) -> dict[str, Any]:
    """A folder's manifest, after every file that it names was found to have its sha256."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        for name, expected in manifest["sha256"].items():
            if sha256(folder / name) != expected:
                raise BadInput(
                    "the file is not the one that was saved (its sha256 differs); remove the folder", folder / name
                )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise BadInput(
            f"not a whole checkpoint ({error}); remove the folder to start again without it", path
        ) from error
    return manifest


def _check_identity(state: Path, saved: dict[str, Any], now: dict[str, Any], changed: bool) -> None:
    environment = {"threads", "world", "torch", "device"}
    for key in sorted(saved.keys() | now.keys()):
        if saved.get(key) != now.get(key) and not (changed and key in environment):
            hint = "; --allow-change goes on all the same, to other bits" if key in environment else ""
            raise BadInput(
                f"this run was begun with {key} {saved.get(key)!r}, not {now.get(key)!r}{hint}", state / MANIFEST
            )


def _moments(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{kind}.{name}": value
        for name, parameter in model.named_parameters()
        for kind, value in optimizer.state[parameter].items()
    }
