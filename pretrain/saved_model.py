"""Load models and tokenizers of any type that transformers knows, without downloads, prompts, unpickling or
running code from their folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from calque.derive import strict_json
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
INDEX = f"{WEIGHTS}.index.json"  # maps tensors to files if there are several
ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
DECODERS = ("is_decoder", "is_encoder_decoder", "add_cross_attention")
"""Settings that are true only for models other than bidirectional encoders."""
COUNT_FROM_PADDING = frozenset(
    "camembert data2vec-text ibert longformer luke mpnet roberta roberta-prelayernorm xlm-roberta "
    "xlm-roberta-xl xmod".split()
)
"""Model types whose position ids start after padding's id."""
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_TABLE = "word_embeddings.weight"
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """Read the configuration of the model in a folder."""
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"no model here; expected {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    from transformers import AutoConfig

    config = _loaded(folder, "model", lambda: AutoConfig.from_pretrained(folder, **_SAFELY))
    for name in DECODERS:
        if getattr(config, name, False):
            raise BadInput(f"{name} is set, but only bidirectional encoders are supported", path)
    if config.model_type in COUNT_FROM_PADDING and config.pad_token_id is None:
        raise BadInput("pad_token_id is null, but position ids start after padding's id", path)
    if other := getattr(config, "transformers_weights", None):
        raise BadInput(f"transformers_weights is {other!r}, but weights must be in {WEIGHTS}", path)
    config.return_dict, config.chunk_size_feed_forward = True, 0  # affects only the format of outputs
    return config


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return a model's safetensors files: a single one, or those listed in an index, in sorted order. Raises
    BadInput if there are none, or if the folder contains an adapter, which would change the weights."""
    for adapter in (folder / name for name in ADAPTERS):
        if adapter.exists():
            raise BadInput(
                f"adapters are not supported; merge this one into {WEIGHTS}, or remove it", adapter
            )
    if (whole := folder / WEIGHTS).is_file():
        return (whole,)
    if not (index := folder / INDEX).is_file():
        if others := sorted(path for path in folder.glob("*") if path.suffix in _OTHER_WEIGHTS):
            raise BadInput(f"this format can be unsafe; save the weights as {WEIGHTS}", others[0])
        raise BadInput(f"no weights: expected {WEIGHTS}", folder)
    try:
        places = strict_json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(map(str, places.values())))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadInput(f"this index of tensors and their files is damaged: {error}", index) from None
    for name in names or [""]:
        if not name or Path(name).name != name or not (folder / name).is_file():
            raise BadInput(f"this index lists the file {name!r}, which is not in the same folder", index)
    return tuple(folder / name for name in names)


def weights_digest(folder: Path) -> str:
    """Return the sha256 of a checkpoint's weight file or, if there are several, of their digests and
    names."""
    files = weight_files(folder)
    if len(files) == 1:
        return sha256(files[0])
    return hashlib.sha256("".join(f"{sha256(path)}  {path.name}\n" for path in files).encode()).hexdigest()


def tensor_files(folder: Path) -> dict[str, Path]:
    """Return the file of each of a model's tensors, by name. Raises BadInput for quantised weights."""
    files: dict[str, Path] = {}
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as tensors:
                kinds = {name: tensors.get_slice(name).get_dtype() for name in list(tensors.keys())}
        except (OSError, SafetensorError) as error:
            raise BadInput(f"cannot load weights: {error}", path) from None
        for name, kind in kinds.items():
            if kind not in FLOATS and name.endswith((".weight", ".bias")):
                raise BadInput(f"{name} is {kind}, but quantised weights are not supported", path)
        files |= dict.fromkeys(kinds, path)
    return files


def read_tensor(path: Path, name: str) -> torch.Tensor:
    """Read a tensor from a safetensors file without loading the others."""
    with safe_open(path, framework="pt") as tensors:
        return tensors.get_tensor(name)


def load_model(folder: Path, kind: Any = None) -> tuple[PreTrainedModel, list[str]]:
    """Load a folder's model into a transformers class (by default, AutoModel), on the CPU in float32, and
    return it with the sorted names of missing weights. Raises MemoryError if memory runs out, and BadInput if
    the folder contains no model, needs custom code, is a damaged checkpoint, or contains weights that are
    not in safetensors format or do not match the config."""
    from transformers import AutoModel

    check_part(folder, RUN)  # safetensors have no checksum
    kind = kind or AutoModel
    config, files = read_config(folder), tensor_files(folder)
    layers = getattr(config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > len(files):
        fault = f"{layers:,} layers, but the weights contain only {len(files):,} tensors"
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
    return model, _missing(model, report, folder, files)


def _missing(model: Any, report: Mapping[str, Any], folder: Path, files: Mapping[str, Path]) -> list[str]:
    """Return the names of missing weights that may be random; raise BadInput for other weights that are
    missing or do not match the config."""
    for name, saved, wanted in sorted(report["mismatched_keys"]):
        paths = [path for other, path in files.items() if other.endswith(name) or name.endswith(other)]
        fault = f"{name} is {tuple(saved)}, but {tuple(wanted)} in {CONFIG}"
        raise BadInput(fault, next(iter(paths), folder))
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"the weights {extra[0]} belong to a layer that {CONFIG} does not have", folder)
    missing = sorted(report["missing_keys"])
    if getattr(model.config, "tie_word_embeddings", False) and _set_table(model, missing, files):
        missing = [name for name in missing if not name.endswith(_TABLE)]
    if lacking := [name for name in missing if _LAYER.search(name) or "embeddings." in name]:
        raise BadInput(f"{len(lacking):,} weights are missing, such as {lacking[0]}", folder)
    return missing


def _set_table(model: Any, missing: Sequence[str], files: Mapping[str, Path]) -> bool:
    """Set a model's word embeddings if they are saved only as the head's weights, which AutoModel ignores,
    and return whether they were set."""
    table = next((name for name in missing if name.endswith(_TABLE)), None)
    decoder = next((name for name in files if name.endswith(".decoder.weight")), None)
    if table and decoder:
        model.get_input_embeddings().weight.data.copy_(read_tensor(files[decoder], decoder))
    return bool(table and decoder)


def load_tokenizer(folder: Path) -> Any:
    """Load a folder's tokenizer with transformers. Raises BadInput if it cannot be loaded."""
    from transformers import AutoTokenizer

    return _loaded(folder, "tokenizer", lambda: AutoTokenizer.from_pretrained(folder, **_SAFELY))


def _loaded(place: Path, what: str, load: Callable[[], Any]) -> Any:
    """Call `load` without transformers' messages, and convert errors to BadInput for `place`."""
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
