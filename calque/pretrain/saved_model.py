"""Saved models and tokenizers, and the model that a run starts from. Nothing is downloaded, unpickled or
executed. To save memory, a run's model contains embedding rows only for types in the training text until the
run's checkpoint is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from calque.derive.artefact import check_part
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.vocabulary import (
    ROLES,
    TOKENIZER,
    TOKENIZER_CONFIG,
    open_tokenizer,
    tokenizer_settings,
)
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.model import (
    HEADS,
    build,
    counts_from_padding,
    has_languages,
    masked_model,
    row_length,
)
from calque.pretrain.saved_tokenizer import AS_SAVED

if TYPE_CHECKING:  # accessing these names imports transformers' models, which takes seconds
    from transformers import PreTrainedConfig, PreTrainedModel


CONFIG, WEIGHTS = "config.json", "model.safetensors"
ALIGNER_LAYER, ALIGNER_LABELS = "aligner_layer", "aligner_labels"
"""Configuration keys that aligner training sets: the layer to align with, and the kind of labels."""
RUN = "run"  # an artefact kind
OTHER = "a model with a different shape"
_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
_DECODERS = ("is_decoder", "is_encoder_decoder", "add_cross_attention")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_FLOATS = ("F64", "F32", "F16", "BF16")
_LAYER = re.compile(r"\blayers?\.\d+\.")
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


@contextmanager
def reading_tensors(path: Path) -> Iterator[None]:
    """Convert errors while reading `path` to BadInput."""
    try:
        yield
    except (OSError, ValueError, SafetensorError) as error:
        raise BadInput(f"cannot load weights: {error}", path) from None


READING = ("tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space")
"""Settings that affect tokenization."""
SAMPLE = 500  # approximate number of types to compare


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Raise BadInput unless a tokenizer fits its model: all ids are below `rows`, and padding has the id
    `pad`."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        table = f"the model next to it has a table of {rows:,} rows"
        raise BadInput(f"contains ids up to {last:,}, but {table}", path)
    pads = [types[name] for name in ROLES["pad"] if name in types]
    if pad not in pads:
        ids = ", ".join(map(str, pads)) or "none"
        raise BadInput(f"padding has the id {ids}, but pad_token_id in {CONFIG} is {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Raise BadInput unless a model's ids represent the types of the vocabulary `ours`."""
    path = folder / TOKENIZER
    if path.is_file() and sha256(path) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"the vocabulary differs from {ours}, so ids stand for different types", path)


def _types(folder: Path) -> dict[str, int]:
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises a bare Exception; transformers may support other files
        return dict(load_tokenizer(folder).get_vocab())


@cache
def check_tokenizer(folder: Path) -> None:
    """Raise BadInput unless AutoTokenizer, most of whose classes ignore parts of tokenizer.json, produces its
    ids."""
    settings = tokenizer_settings(folder)
    class_name = settings.get("tokenizer_class", None if (folder / CONFIG).exists() else AS_SAVED[0])
    added = (folder / "added_tokens.json").exists() or settings.get("added_tokens_decoder")
    if class_name in AS_SAVED and not added:
        return
    try:
        cases = list(_encodings(open_tokenizer(folder / TOKENIZER), load_tokenizer(folder)))
    except BadInput:
        raise
    except Exception as error:  # a bare Exception, for unknown words without an unknown type
        raise BadInput(f"AutoTokenizer's tokenizer cannot encode all words: {error}", folder) from None
    for text, ids, auto_ids in cases:
        if ids != auto_ids:
            options = ", ".join(f"{name}: {settings[name]}" for name in READING if name in settings)
            cause = f"{TOKENIZER_CONFIG} ({options})" if options else f"the model_type of {CONFIG}"
            fault = (
                f"encodes {text!r} as {ids}, but AutoTokenizer encodes it as {auto_ids}, because of {cause}"
            )
            advice = "make the files agree, or save AutoTokenizer's tokenizer here"
            raise BadInput(f"{fault}; {advice}", folder / TOKENIZER)


def _encodings(tokenizer: Tokenizer, auto_tokenizer: Any) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield words with both tokenizers' ids, then a row of two texts. The words are AutoTokenizer's
    additional types, and types with changed case, accents and word boundaries."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    auto_tokenizer.model_max_length = 1 << 30  # otherwise, transformers warns about long texts
    vocabulary, special = tokenizer.get_vocab(with_added_tokens=True), set(auto_tokenizer.all_special_tokens)
    words = sorted(auto_tokenizer.get_vocab().keys() - vocabulary.keys() - special)
    ordinary = sorted(vocabulary.keys() - special)
    for piece in ordinary[:: len(ordinary) // SAMPLE + 1]:
        if word := tokenizer.decode([vocabulary[piece]]).strip():
            accented = normalize("NFC", f"{word[0]}\u0301{word[1:]}")
            words += [word, word.upper(), word.title(), accented, f"{word}中{word}"]
    texts = [f" {word}" for word in words]
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    yield from zip(words, ids, auto_tokenizer(texts, add_special_tokens=False)["input_ids"], strict=True)
    row, auto_row = tokenizer.encode(" a", " a"), auto_tokenizer(" a", " a", return_token_type_ids=True)
    yield "a, a", row.ids, auto_row["input_ids"]
    yield "a, a", row.type_ids, auto_row["token_type_ids"]


def check_start(folder: Path, config: ModelConfig) -> None:
    """Raise BadInput if a run with this config cannot start from a folder's model."""
    saved = read_config(folder)
    different = _other_shape(saved, config)
    _refuse_second_tensors(saved, folder)
    if not (folder / TOKENIZER).is_file():
        raise BadInput("there is no tokenizer; save one with AutoTokenizer", folder / TOKENIZER)
    check_own_types(folder, saved.vocab_size, saved.pad_token_id)
    check_tokenizer(folder)
    if different:
        raise BadInput(different, folder)


def has_head(folder: Path) -> bool:
    """Whether a checkpoint contains a prediction head."""
    head = HEADS[read_config(folder).model_type]
    # BERT's other head predicts whether two sentences are consecutive.
    names = (name for name in tensor_names(folder) if name.startswith(f"{head}."))
    return any("seq_relationship" not in name for name in names)


def initial_model(
    folder: Path | None, config: ModelConfig, languages: Languages, language_embeddings: bool, seed: int
) -> tuple[Any, list[str]]:
    """Return a new model, or the RoBERTa, XLM-R or BERT model in a folder, whose shape must match the config;
    the config also sets the dropout. Also return descriptions of its random parts: rows for new scripts, and
    the prediction head if the folder lacks it."""
    if folder is None:
        types = languages.token_types if language_embeddings else 1
        return build(config, languages.rows, types, seed, languages.specials), []
    saved = read_config(folder)
    if different := _other_shape(saved, config) + _other_rows(saved, languages, language_embeddings):
        raise BadInput(different, folder)
    check_same_types(folder, languages.tokenizer)
    _refuse_second_tensors(saved, folder)
    loaded, missing = load_model(folder, with_head=True)
    saved.hidden_dropout_prob = config.dropout
    saved.attention_probs_dropout_prob = config.attention_dropout
    torch.manual_seed(seed)
    model: Any = type(loaded)(_changed(saved, vocab_size=max(saved.vocab_size, languages.rows)))
    weights, table = model.state_dict(keep_vars=True), model.get_input_embeddings().weight
    head, prefix = set[str](), f"{HEADS[saved.model_type]}."
    if not has_head(folder):
        head = {name for name, weight in weights.items() if name.startswith(prefix) and weight is not table}
    if lacking := [name for name in missing if name not in head]:
        raise BadInput(f"the weights {', '.join(lacking)} are missing", weights_file(folder))
    random_parts = ["the prediction head"] if head else []
    if (rows := int(loaded.config.vocab_size)) < languages.rows:
        random_parts.append(f"rows {rows:,} to {languages.rows - 1:,} of its table")
    with torch.no_grad():
        for name, tensor in loaded.state_dict().items():
            if name not in head:
                weights[name][: len(tensor)].copy_(tensor)
    return model, random_parts


def _refuse_second_tensors(saved: Any, folder: Path) -> None:
    """Raise BadInput if tied tensors were saved with different values."""
    names, path = tensor_names(folder), weights_file(folder)
    tied = masked_model(saved)._tied_weights_keys if saved.tie_word_embeddings else {}
    with safe_open(path, framework="pt") as tensors:
        for pair in tied.items():
            if names.issuperset(pair) and not torch.equal(*map(tensors.get_tensor, pair)):
                fault = f"{' differs from '.join(pair)}, but {CONFIG} sets tie_word_embeddings"
                raise BadInput(f"{fault}; remove one of them, or set it to false", path)


def _other_shape(saved: Any, config: ModelConfig) -> list[str]:
    """Return messages about differences between a saved model's shape and the config."""
    shape = {
        "layers": (saved.num_hidden_layers, config.layers),
        "heads": (saved.num_attention_heads, config.heads),
        "hidden": (saved.hidden_size, config.hidden),
        "ffn": (saved.intermediate_size, config.ffn),
        "length": (min(row_length(saved), config.length), config.length),
    }
    different = [(name, *values) for name, values in shape.items() if values[0] != values[1]]
    return [f"{OTHER}: {name} {value}, not {expected}" for name, value, expected in different]


def _other_rows(saved: Any, languages: Languages, language_embeddings: bool) -> list[str]:
    """Return messages about a saved model's embedding tables that do not fit the languages."""
    faults, types = [], saved.type_vocab_size
    if language_embeddings and types != languages.token_types:
        faults.append(f"{types} token types, not {languages.token_types}")
    if not language_embeddings and has_languages(types):
        faults.append(f"{types} token types, but the objective has no language embeddings")
    if saved.vocab_size < languages.size:
        faults.append(f"a table of {saved.vocab_size:,} rows for {languages.size:,} types")
    if saved.pad_token_id != languages.specials.pad:
        faults.append(f"padding is id {saved.pad_token_id}, not {languages.specials.pad}")
    return [f"{OTHER}: {fault}" for fault in faults]


def _changed(config: Any, **changes: Any) -> Any:
    """Return a copy of a transformers configuration with changed values."""
    return type(config).from_dict(config.to_dict() | changes)


def with_rows(model: Any, types: np.ndarray, pad: int) -> Any:
    """Return the model with only the rows of `types`, (R,) int64; `pad` is the padding type's row."""
    config = model.config
    if counts_from_padding(config) and pad != config.pad_token_id:
        reason = f"so all types before it need rows, but only {pad} have one"
        raise BadInput(f"position ids start after the padding id, {config.pad_token_id}, {reason}")
    small = type(model)(_changed(config, vocab_size=len(types), pad_token_id=pad))
    rows, state = torch.from_numpy(types), model.state_dict()
    with torch.no_grad():
        for name, tensor in small.state_dict().items():  # only tensors with one row per type differ in shape
            tensor.copy_(state[name][rows] if state[name].shape != tensor.shape else state[name])
    return small


def put_back(trained: Any, types: np.ndarray, full_model: Any) -> None:
    """Copy a model created by `with_rows` into the full model, whose other rows stay unchanged."""
    rows, state = torch.from_numpy(types), full_model.state_dict()
    with torch.no_grad():
        for name, tensor in trained.state_dict().items():
            if state[name].shape == tensor.shape:
                state[name].copy_(tensor)
            else:
                state[name][rows] = tensor.to(state[name].device)
