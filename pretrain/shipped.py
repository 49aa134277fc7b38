"""Finished runs stored in a safetensors file, which contains weights in half precision, named RUN/WEIGHT, and
each run's manifest and metrics as metadata."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from safetensors import safe_open

from calque.derive import strict_json
from calque.derive.artefact import Artefact
from calque.derive.errors import BadInput
from calque.derive.files import whole_file
from calque.derive.fingerprint import sha256
from calque.pretrain.checkpoint import METRICS
from calque.pretrain.lazy import tensor_files, torch
from calque.pretrain.model import state_of
from calque.pretrain.run import CHECKPOINT, Pretraining, finish
from calque.pretrain.saved_model import RUN, load_model
from calque.pretrain.start import InitialModel


@dataclass(frozen=True)
class ShippedRun:
    """A run stored in a file under `name`."""

    file: Path
    name: str

    def identity(self) -> str:
        """The file's SHA-256."""
        return _expected(self.file)

    def unpack(self, folder: Path, config: Pretraining) -> None:
        """Write the run's folder in the format of `pretrain`, with weights in single precision."""
        run, embeddings = runs_of(self.file)[self.name], config.objective.traits.language_embeddings
        model, _ = InitialModel(None, config.model, config.languages, embeddings, config.seed).whole()
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
    """Return each run's manifest facts and metrics by name; raise BadInput if the file's SHA-256 is wrong."""
    if not file.is_file() or sha256(file) != _expected(file):
        digest = _digest_file(file).name
        raise BadInput(f"this file of runs is missing, or its SHA-256 is not the one in {digest}", file)
    with safe_open(file, framework="pt") as tensors:
        return {name: strict_json.loads(text) for name, text in tensors.metadata().items()}


def pack(runs: Mapping[str, Path], file: Path) -> None:
    """Write finished runs, by name, to a file, and the file's SHA-256 to a second file next to it."""
    from transformers import AutoModelForMaskedLM

    tensors, metadata = dict[str, torch.Tensor](), dict[str, str]()
    for name, folder in runs.items():
        run = Artefact.open(folder, RUN)
        model, _ = load_model(folder / CHECKPOINT, AutoModelForMaskedLM)
        tensors |= {f"{name}/{key}": weights.half() for key, weights in state_of(model).items()}
        metrics = run.path(METRICS).read_text(encoding="utf-8")
        metadata[name] = json.dumps({"facts": run.facts, "metrics": metrics})
    with whole_file(file) as part:
        part.write_bytes(tensor_files.save(tensors, metadata))
    _digest_file(file).write_text(f"{sha256(file)}  {file.name}\n", encoding="utf-8", newline="\n")


def _digest_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _expected(file: Path) -> str:
    path = _digest_file(file)
    return path.read_text(encoding="utf-8").split()[0] if path.is_file() else ""
