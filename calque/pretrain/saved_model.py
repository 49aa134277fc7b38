"""Models, tokenizers, snapshots and run states on disk. Nothing is downloaded, unpickled or executed."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from calque.derive.artefact import Artefact, check_part, finished, making
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, sweep, sync, whole_file
from calque.derive.fingerprint import sha256
from calque.pretrain.config import TrainConfig
from calque.pretrain.lazy import Optimizer, Tensor, tensor_files, torch
from calque.pretrain.model import HEADS, state_of

if TYPE_CHECKING:  # accessing these names imports transformers' models, which takes seconds
    from transformers import PreTrainedConfig, PreTrainedModel

    from calque.pretrain.modules import Learner

CONFIG, WEIGHTS, MOMENTS = "config.json", "model.safetensors", "optimizer.safetensors"
SNAPSHOTS, METRICS = "snapshots", "metrics.jsonl"
ALIGNER_LAYER, ALIGNER_LABELS = "aligner_layer", "aligner_labels"
"""Configuration keys that aligner training sets: the layer to align with, and the kind of labels."""
RUN, STATE = "run", "the state of a run"  # artefact kinds
KINDS = ("step", "exp_avg", "exp_avg_sq")  # AdamW's state tensors for each parameter
MACHINE = {"threads", "world", "torch", "device", "instructions"}
"""Keys of a run's identity that affect only rounding."""
_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
_DECODERS = ("is_decoder", "is_encoder_decoder", "add_cross_attention")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_FLOATS = ("F64", "F32", "F16", "BF16")
_LAYER, _STEP = re.compile(r"\blayers?\.\d+\."), re.compile(r"step-(\d{9,})")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """Read a model's configuration. Raises BadInput unless it is a RoBERTa, XLM-R or BERT encoder."""
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"no model here; expected {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    from transformers import AutoConfig

    config = _loaded(AutoConfig, folder, "model", _SAFELY)
    if config.model_type not in HEADS:
        fault = f"models of type {config.model_type!r} are not supported"
        raise BadInput(f"{fault}; supported types are {', '.join(HEADS)}", path)
    for name in _DECODERS:
        if getattr(config, name, False):
            raise BadInput(f"{name} is set, but only bidirectional encoders are supported", path)
    if config.pad_token_id is None:
        raise BadInput("pad_token_id is null; set it to the id of the tokenizer's padding token", path)
    config.return_dict, config.chunk_size_feed_forward = True, 0  # affect only the format of outputs
    return config


def weights_file(folder: Path) -> Path:
    """Return a model's safetensors file. Raises BadInput if there is none, or an adapter."""
    for name in _ADAPTERS:
        if (folder / name).exists():
            merge = f"merge this one into {WEIGHTS}, or remove it"
            raise BadInput(f"adapters are not supported; {merge}", folder / name)
    if not (folder / WEIGHTS).is_file():
        if files := sorted(path for path in folder.glob("*") if path.suffix in _OTHER_WEIGHTS):
            raise BadInput(f"this format can be unsafe; save the weights as {WEIGHTS}", files[0])
        raise BadInput(f"no weights: expected {WEIGHTS}, as a single file", folder)
    return folder / WEIGHTS


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a model's weights. Raises BadInput if it contains none."""
    return sha256(weights_file(folder))


def tensor_names(folder: Path) -> set[str]:
    """Return the names of a model's saved tensors. Raises BadInput for quantised weights."""
    path = weights_file(folder)
    with reading_tensors(path), safe_open(path, framework="pt") as tensors:
        kinds = {name: tensors.get_slice(name).get_dtype() for name in list(tensors.keys())}
    for name, kind in kinds.items():
        if kind not in _FLOATS and name.endswith((".weight", ".bias")):
            raise BadInput(f"{name} is {kind}, but quantised weights are not supported", path)
    return set(kinds)


def read_tensor(folder: Path, name: str) -> torch.Tensor:
    """Read a single tensor."""
    with safe_open(weights_file(folder), framework="pt") as tensors:
        return tensors.get_tensor(name)


def load_model(folder: Path, with_head: bool = False) -> tuple[PreTrainedModel, list[str]]:
    """Load a folder's encoder, or its masked language model `with_head`, on the CPU in float32, and return it
    with the sorted names of missing weights. Raises MemoryError, or BadInput if the model is missing,
    damaged, unsafe or inconsistent."""
    from transformers import AutoModel, AutoModelForMaskedLM

    check_part(folder, RUN)  # safetensors files contain no checksum
    config, names = read_config(folder), tensor_names(folder)
    if config.num_hidden_layers > len(names):
        fault = f"{config.num_hidden_layers:,} layers, but the weights contain only {len(names):,} tensors"
        raise BadInput(fault, folder / CONFIG)
    options = {
        "config": config,
        "use_safetensors": True,
        "output_loading_info": True,
        "dtype": torch.float32,
        "ignore_mismatched_sizes": True,  # reported below, by name
        **_SAFELY,
    }
    model, report = _loaded(AutoModelForMaskedLM if with_head else AutoModel, folder, "model", options)
    return model, _missing(report, folder / WEIGHTS)


def _missing(report: Mapping[str, Any], path: Path) -> list[str]:
    """Return the names of missing weights outside the embeddings and layers; refuse other differences."""
    for name, saved, expected in sorted(report["mismatched_keys"]):
        raise BadInput(f"{name} is {tuple(saved)}, but {tuple(expected)} in {CONFIG}", path)
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"the weights {extra[0]} belong to a layer that {CONFIG} does not have", path)
    missing = sorted(report["missing_keys"])
    if lacking := [name for name in missing if _LAYER.search(name) or "embeddings." in name]:
        raise BadInput(f"{len(lacking):,} weights are missing, such as {lacking[0]}", path)
    return missing


def load_tokenizer(folder: Path) -> Any:
    """Load a folder's tokenizer with transformers. Raises BadInput if it cannot be loaded."""
    from transformers import AutoTokenizer

    return _loaded(AutoTokenizer, folder, "tokenizer", _SAFELY)


def _loaded(kind: Any, folder: Path, what: str, options: Mapping[str, Any]) -> Any:
    """Load with a transformers class, suppressing its messages and converting its errors to BadInput."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return kind.from_pretrained(folder, **options)
    except Exception as error:  # a dozen types of exceptions are possible, depending on the damage
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate memory" in message:
            raise MemoryError(f"{folder}: {message[:200]}") from None
        raise BadInput(f"cannot load the {what}: {message[:300]}", folder) from None
    finally:
        logging.set_verbosity(level)


def save_state(
    folder: Path, step: int, learner: Learner, optimizer: Optimizer, rows: Path, facts: Mapping[str, Any]
) -> None:
    """Write the state to `folder/step-N`, with a copy of the metrics file `rows`, and remove earlier states.
    `facts` contains the run's identity and its snapshots' digests."""
    new = folder / f"step-{step:09d}"
    with making(new, STATE, dict(facts)) as part:
        shutil.copy(rows, part / METRICS)
        save_tensors(state_of(learner), part / WEIGHTS)
        moments: dict[str, Tensor] = {}
        for name, parameter in learner.trained.items():
            moments |= {f"{kind}.{name}": optimizer.state[parameter][kind] for kind in KINDS}
        save_tensors(moments, part / MOMENTS)
    remove_states(folder, new)


def _by_step(paths: Iterable[Path]) -> dict[int, Path]:
    matches = ((path, _STEP.fullmatch(path.name.removesuffix(".safetensors"))) for path in paths)
    return {int(match[1]): path for path, match in matches if match}


def remove_states(folder: Path, last: Path | None = None) -> None:
    """Remove a run's states except `last`, and incomplete states."""
    sweep(folder)
    for old in _by_step(folder.glob("step-*")).values():
        if old != last and old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)


def load_state(
    folder: Path,
    learner: Learner,
    optimizer: Optimizer,
    identity: Mapping[str, Any],
    allow_change: bool = False,
) -> tuple[int, Artefact | None]:
    """Load the latest state in `folder`; return its step and the state, or 0 and None. Raises BadInput if it
    is damaged or has a different identity; `allow_change` permits differences in MACHINE keys."""
    if not (states := _by_step(folder.glob("step-*"))):
        return 0, None
    step, last = max(states.items())
    if not finished(last):
        raise BadInput("this state is incomplete; remove it to start without it", last)
    state = Artefact.open(last, STATE)
    check_identity(state, identity, allow_change)
    restore(state_of(learner), state.path(WEIGHTS))
    moments = tensor_files.load_file(state.path(MOMENTS))
    for name, parameter in learner.trained.items():
        for kind in KINDS:  # copies, because the file will be removed
            optimizer.state[parameter][kind] = moments[f"{kind}.{name}"].to(parameter.device, copy=True)
    return step, state


def check_identity(artefact: Artefact, now: Mapping[str, Any], any_machine: bool) -> None:
    """Raise BadInput if a run's configuration or, unless `any_machine`, its machine has changed."""
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
        match = re.search(r"os error (\d+)", str(error))
        number = int(match[1]) if match else errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


@contextmanager
def reading_tensors(path: Path) -> Iterator[None]:
    """Convert errors while reading `path` to BadInput."""
    try:
        yield
    except (OSError, ValueError, SafetensorError) as error:
        raise BadInput(f"cannot load weights: {error}", path) from None


def restore(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Copy a file's tensors into tensors with the same names and shapes, or raise BadInput."""
    with reading_tensors(path):
        saved = tensor_files.load_file(path)
    if wrong := sorted(tensors.keys() ^ saved.keys()):
        raise BadInput(f"{wrong[0]} is missing here or in the model", path)
    with torch.no_grad():
        for name, tensor in tensors.items():
            if tensor.shape != saved[name].shape:
                raise BadInput(f"{name} is {tuple(saved[name].shape)}, not {tuple(tensor.shape)}", path)
            tensor.copy_(saved[name])


class Snapshots:
    """A run's snapshots. Resuming verifies those listed in the state and removes later ones."""

    def __init__(self, folder: Path, config: TrainConfig, writes: bool, state: Artefact | None) -> None:
        self.folder, self.steps = folder / SNAPSHOTS, frozenset(config.kept if writes else ())
        self.digests: dict[str, str] = dict(state.facts[SNAPSHOTS]) if writes and state else {}
        for name, digest in self.digests.items():
            path = self.folder / name
            if not path.is_file() or sha256(path) != digest:
                fault = "this is not the snapshot listed in the state to resume from"
                raise BadInput(f"{fault}; remove {folder} to start from the beginning", path)
        for path in _by_step(self.folder.glob("*.safetensors")).values() if writes else ():
            if path.name not in self.digests:
                path.unlink()

    def add(self, step: int, model: Any) -> None:
        """Save a snapshot if one is due and does not exist yet."""
        name = f"step-{step:09d}.safetensors"
        if step in self.steps and name not in self.digests:
            with whole_file(self.folder / name) as part:
                save_tensors(state_of(model), part)
            sync(self.folder)  # must be on disk before a state lists it
            self.digests[name] = sha256(self.folder / name)


def snapshots_of(run: Artefact) -> dict[int, str]:
    """Return a finished run's snapshots by step, in ascending order."""
    names = (path for path in map(Path, run.digests) if path.parent.name == SNAPSHOTS)
    steps = {step: path.as_posix() for step, path in sorted(_by_step(names).items())}
    if not steps:
        raise BadInput("this run saved no snapshots; set train.snapshots to save some", run.folder)
    return steps


def load_snapshot(model: Any, path: Path) -> None:
    """Load a run's snapshot, one of `snapshots_of`, into a model of the same shape."""
    restore(state_of(model), path)
