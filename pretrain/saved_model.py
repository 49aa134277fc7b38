"""Load models and tokenizers of any type that transformers supports, without downloads, prompts, unpickling
or running code from their folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from calque.derive.artefact import check_part
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.pretrain.lazy import torch

if TYPE_CHECKING:  # accessing these names imports transformers' models, which takes seconds
    from transformers import PreTrainedConfig, PreTrainedModel

CONFIG, WEIGHTS = "config.json", "model.safetensors"
ALIGNER_LAYER, ALIGNER_LABELS = "aligner_layer", "aligner_labels"
"""Configuration keys that aligner training sets: the layer to align with, and the kind of labels."""
RUN = "run"  # the artefact kind of runs
_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
_DECODERS = ("is_decoder", "is_encoder_decoder", "add_cross_attention")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_FLOATS = ("F64", "F32", "F16", "BF16")
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """Read the configuration of the model in a folder."""
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"no model here; expected {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    from transformers import AutoConfig

    config = _loaded(folder, "model", lambda: AutoConfig.from_pretrained(folder, **_SAFELY))
    for name in _DECODERS:
        if getattr(config, name, False):
            raise BadInput(f"{name} is set, but only bidirectional encoders are supported", path)
    if getattr(config, "pad_token_id", 0) is None:
        raise BadInput("pad_token_id is null; set it to the id of the tokenizer's padding", path)
    config.return_dict, config.chunk_size_feed_forward = True, 0  # affect only the format of outputs
    return config


def weights_file(folder: Path) -> Path:
    """Return a model's safetensors file; raise BadInput if there is none, or if the folder contains an
    adapter, which would change the weights."""
    for name in _ADAPTERS:
        if (folder / name).exists():
            merge = f"merge this one into {WEIGHTS}, or remove it"
            raise BadInput(f"adapters are not supported; {merge}", folder / name)
    if not (folder / WEIGHTS).is_file():
        if others := sorted(path for path in folder.glob("*") if path.suffix in _OTHER_WEIGHTS):
            raise BadInput(f"this format can be unsafe; save the weights as {WEIGHTS}", others[0])
        raise BadInput(f"no weights: expected {WEIGHTS}, as a single file", folder)
    return folder / WEIGHTS


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a model's weights."""
    return sha256(weights_file(folder))


def tensor_names(folder: Path) -> set[str]:
    """Return the names of a model's saved tensors. Raises BadInput for quantised weights."""
    path = weights_file(folder)
    try:
        with safe_open(path, framework="pt") as tensors:
            kinds = {name: tensors.get_slice(name).get_dtype() for name in list(tensors.keys())}
    except (OSError, SafetensorError) as error:
        raise BadInput(f"cannot load weights: {error}", path) from None
    for name, kind in kinds.items():
        if kind not in _FLOATS and name.endswith((".weight", ".bias")):
            raise BadInput(f"{name} is {kind}, but quantised weights are not supported", path)
    return set(kinds)


def read_tensor(folder: Path, name: str) -> torch.Tensor:
    """Read one of a model's tensors without loading the others."""
    with safe_open(weights_file(folder), framework="pt") as tensors:
        return tensors.get_tensor(name)


def load_model(folder: Path, kind: Any = None) -> tuple[PreTrainedModel, list[str]]:
    """Load the model in a folder into a transformers class (by default, AutoModel), on the CPU in float32,
    and return it with the sorted names of missing weights. Raises MemoryError if memory runs out, and
    BadInput if the folder's model is missing, damaged, unsafe or inconsistent."""
    from transformers import AutoModel

    check_part(folder, RUN)  # safetensors files contain no checksum
    kind = kind or AutoModel
    config, names = read_config(folder), tensor_names(folder)
    if getattr(config, "num_hidden_layers", 0) > len(names):
        fault = f"{config.num_hidden_layers:,} layers, but the weights contain only {len(names):,} tensors"
        raise BadInput(fault, folder / CONFIG)
    options = {
        "config": config,
        "use_safetensors": True,
        "output_loading_info": True,
        "dtype": torch.float32,
        "ignore_mismatched_sizes": True,  # reported below, by name
        # Concrete classes never run code from the folder, so they lack the option that forbids it.
        **(_SAFELY if kind.__name__.startswith("Auto") else {"local_files_only": True}),
    }
    model, report = _loaded(folder, "model", lambda: kind.from_pretrained(folder, **options))
    return model, _missing(report, folder)


def _missing(report: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the names of missing weights that may be initialised randomly; raise BadInput for other weights
    that are missing or do not match the config."""
    path = folder / WEIGHTS
    for name, saved, wanted in sorted(report["mismatched_keys"]):
        raise BadInput(f"{name} is {tuple(saved)}, but {tuple(wanted)} in {CONFIG}", path)
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"the weights {extra[0]} belong to a layer that {CONFIG} does not have", path)
    missing = sorted(report["missing_keys"])
    if lacking := [name for name in missing if _LAYER.search(name) or "embeddings." in name]:
        raise BadInput(f"{len(lacking):,} weights are missing, such as {lacking[0]}", path)
    return missing


def load_tokenizer(folder: Path) -> Any:
    """Load a folder's tokenizer with transformers. Raises BadInput if it cannot be loaded."""
    from transformers import AutoTokenizer

    return _loaded(folder, "tokenizer", lambda: AutoTokenizer.from_pretrained(folder, **_SAFELY))


def _loaded(place: Path, what: str, load: Callable[[], Any]) -> Any:
    """Call `load`, suppressing transformers' messages, and convert errors to BadInput for `place`."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load()
    except Exception as error:  # a dozen types of exceptions are possible, depending on the damage
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate memory" in message:
            raise MemoryError(f"{place}: {message[:200]}") from None
        raise BadInput(f"cannot load the {what}: {message[:300]}", place) from None
    finally:
        logging.set_verbosity(level)
