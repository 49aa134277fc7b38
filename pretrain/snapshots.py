"""Snapshots: a model's weights alone after some steps of a run, light enough to be kept, for measures of how it grew.

They lie in the run's folder and are named in its manifest. A run that is resumed checks those before the state that it
goes on from, and writes the others again, to the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file

from derive.artefact import Artefact
from derive.errors import BadInput
from derive.files import make_folder, sha256, sync, whole_file
from pretrain.checkpoint import restore, save_tensors
from pretrain.config import TrainConfig
from pretrain.learner import state_of

SNAPSHOTS = "snapshots"
"""The folder of a run that holds them."""
_FILE = re.compile(rf"{SNAPSHOTS}/step-(\d{{9,}})\.safetensors")


class Snapshots:
    """The snapshots of a run under way; a process that does not write keeps none.

    Raises:
        BadInput: those that belong to the state that a run goes on from, `sealed`, are not there as they were.
    """

    def __init__(self, folder: Path, config: TrainConfig, writes: bool, sealed: Mapping[str, Any]) -> None:
        self.folder, self.steps = folder / SNAPSHOTS, frozenset(config.kept if writes else ())
        self._digests: dict[str, str] = dict(sealed.get(SNAPSHOTS, {})) if writes else {}
        for name, digest in self._digests.items():
            path = self.folder / name
            if not path.is_file() or sha256(path) != digest:
                raise BadInput(
                    f"not the snapshot of the state that the run goes on from; remove {folder} to begin it again", path
                )
        if writes:
            for path in self.folder.glob("*.safetensors"):  # after that state: they will be written again
                if path.name not in self._digests:
                    path.unlink()

    def add(self, step: int, model: Any) -> None:
        """Keep the weights after `step`, if it is one of the steps and they are not kept yet."""
        name = f"step-{step:09d}.safetensors"
        if step not in self.steps or name in self._digests:
            return
        make_folder(self.folder)
        with whole_file(self.folder / name) as part:
            save_tensors(state_of(model), part)
        self._digests[name] = sha256(self.folder / name)

    def sealed(self) -> dict[str, Any]:
        """The digest of each by its name, once their names are on disk: what a state says of those before it."""
        if not self._digests:
            return {}
        sync(self.folder)
        return {SNAPSHOTS: dict(self._digests)}


def snapshots_of(run: Artefact) -> dict[int, str]:
    """The names of a finished run's snapshots among its files, by their steps, ascending.

    Raises:
        BadInput: it has none.
    """
    steps = {int(named[1]): name for name in run.digests if (named := _FILE.fullmatch(name))}
    if not steps:
        raise BadInput("a run without snapshots: how it grew is not known; train.snapshots keeps some", run.folder)
    return dict(sorted(steps.items()))


def load_snapshot(model: Any, path: Path) -> None:
    """Give a model of the same shape the weights of a snapshot, in place.

    Raises:
        BadInput: the file cannot be read, or is of another model.
    """
    try:
        saved = load_file(path)
    except (OSError, SafetensorError) as error:
        raise BadInput(f"expected the weights of a snapshot: {error}", path) from None
    restore(state_of(model), saved, path)
