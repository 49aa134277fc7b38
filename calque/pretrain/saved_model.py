"""Saved models and tokenizers, and the model that a run starts from. Nothing is downloaded, unpickled or
executed. While it is trained, a model has embedding rows only for types in its text."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers.processors import TemplateProcessing

from calque.derive.errors import BadInput
from calque.derive.files import check_part, write_json
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.transforms import Letters
from calque.derive.vocabulary import TOKENIZER, TOKENIZER_CONFIG, Specials, open_tokenizer
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.model import HEADS, TEXT_TYPES, build, counts_from_padding, row_length

if TYPE_CHECKING:  # accessing these names imports transformers' models, which takes seconds
    from transformers import PreTrainedConfig, PreTrainedModel

CONFIG, WEIGHTS = "config.json", "model.safetensors"
TOKENIZERS = "tokenizers"  # the folder for tokenizers of derived languages
ALIGNER_LAYER, ALIGNER_LABELS = "aligner_layer", "aligner_labels"
"""Configuration keys of trained aligners: the layer to align with, and the kind of labels."""
RUN = "run"  # an artefact kind
_FLOATS = ("F64", "F32", "F16", "BF16")
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}
_NEVER, _KEPT, _SPARE = "\U0010fffc", 0x100000, 0x101000
"""Private-use characters: a marker for unused pieces, and the first of the stand-ins for special types and
for letters."""


def read_config(folder: Path) -> PreTrainedConfig:
    """Read a configuration. Raises BadInput unless it is a RoBERTa, XLM-R or BERT encoder's."""
    if not (path := folder / CONFIG).is_file():
        raise BadInput(f"no model here; expected {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    from transformers import AutoConfig

    config = _loaded(AutoConfig, folder, "model", _SAFELY)
    if config.model_type not in HEADS:
        fault = f"models of type {config.model_type!r} are not supported"
        raise BadInput(f"{fault}; supported types are {', '.join(HEADS)}", path)
    if config.is_decoder or config.is_encoder_decoder:
        raise BadInput("the model is a decoder; only bidirectional encoders are supported", path)
    if (adapter := folder / "adapter_config.json").exists():
        raise BadInput(f"adapters are not supported; merge this one into {WEIGHTS}", adapter)
    if config.pad_token_id is None:
        raise BadInput("pad_token_id is null; set it to the id of the tokenizer's padding token", path)
    config.return_dict, config.chunk_size_feed_forward = True, 0  # affect only the format of outputs
    return config


def weights_file(folder: Path) -> Path:
    """Return a model's safetensors file; raise BadInput if there is none."""
    if not (folder / WEIGHTS).is_file():
        raise BadInput(f"no weights: expected {WEIGHTS}, as a single file", folder)
    return folder / WEIGHTS


def tensor_names(folder: Path) -> set[str]:
    """Return the names of saved tensors. Raises BadInput for missing or quantised weights."""
    path = weights_file(folder)
    with reading_tensors(path), safe_open(path, framework="pt") as tensors:
        kinds = {name: tensors.get_slice(name).get_dtype() for name in list(tensors.keys())}
    for name, kind in kinds.items():
        if kind not in _FLOATS and name.endswith((".weight", ".bias")):
            raise BadInput(f"{name} is {kind}, but quantised weights are not supported", path)
    return set(kinds)


def load_model(folder: Path, with_head: bool = False) -> tuple[PreTrainedModel, list[str]]:
    """Load a folder's encoder, or its masked language model `with_head`, on the CPU in float32; return it and
    the names of missing weights. Raises MemoryError, or BadInput if the model is missing, damaged, unsafe or
    inconsistent."""
    from transformers import AutoModel, AutoModelForMaskedLM

    check_part(folder, RUN)  # safetensors files contain no checksum
    options = {
        "config": read_config(folder),
        "use_safetensors": True,
        "output_loading_info": True,
        "dtype": torch.float32,
        "ignore_mismatched_sizes": True,  # reported below, by name
        **_SAFELY,
    }
    tensor_names(folder)  # checks the weights
    model, report = _loaded(AutoModelForMaskedLM if with_head else AutoModel, folder, "model", options)
    path, missing = folder / WEIGHTS, sorted(report["missing_keys"])
    for name, saved, expected in sorted(report["mismatched_keys"]):
        raise BadInput(f"{name} is {tuple(saved)}, but {tuple(expected)} in {CONFIG}", path)
    for name in sorted(filter(_LAYER.search, report["unexpected_keys"])):
        raise BadInput(f"{name} belongs to a layer that {CONFIG} lacks", path)
    if lacking := [name for name in missing if _LAYER.search(name) or "embeddings." in name]:
        raise BadInput(f"{len(lacking):,} weights are missing, such as {lacking[0]}", path)
    if not all(weight.isfinite().all() for weight in model.parameters()):
        raise BadInput("the weights contain a value that is not finite", path)
    return model, missing


def load_tokenizer(folder: Path) -> Any:
    """Load a folder's tokenizer with transformers. Raises BadInput if it cannot be loaded."""
    from transformers import AutoTokenizer

    return _loaded(AutoTokenizer, folder, "tokenizer", _SAFELY)


def _loaded(kind: Any, folder: Path, what: str, options: Mapping[str, Any]) -> Any:
    """Load with a class of transformers, without its messages and with BadInput for its errors."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return kind.from_pretrained(folder, **options)
    except Exception as error:  # a dozen types of exceptions are possible, depending on the damage
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError) or "allocate memory" in message:
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


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Raise BadInput unless all ids of a model's tokenizer are below `rows`, and padding has the id `pad`."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        raise BadInput(f"contains ids up to {last:,}, but the model here has a table of {rows:,} rows", path)
    pads = [types[name] for name in ("<pad>", "[PAD]") if name in types]
    if pad not in pads:
        ids = ", ".join(map(str, pads)) or "none"
        raise BadInput(f"padding has the id {ids}, but pad_token_id in {CONFIG} is {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Raise BadInput unless a model's ids represent the types of the vocabulary `ours`."""
    path = folder / TOKENIZER
    if sha256(path) != sha256(ours) and _types(folder) != _types(ours.parent):
        raise BadInput(f"the vocabulary differs from {ours}, so ids stand for different types", path)


def _types(folder: Path) -> dict[str, int]:
    return dict(open_tokenizer(folder / TOKENIZER).get_vocab(with_added_tokens=True))


def check_start(folder: Path, config: ModelConfig) -> None:
    """Raise BadInput if a run with this config cannot start from a folder's model."""
    saved = read_config(folder)
    tensor_names(folder)  # checks the weights
    check_own_types(folder, saved.vocab_size, saved.pad_token_id)
    _check_shape(folder, saved, config)


def has_head(folder: Path) -> bool:
    """Whether a checkpoint contains a prediction head."""
    head = HEADS[read_config(folder).model_type]
    # BERT's other head predicts whether two sentences are consecutive.
    names = (name for name in tensor_names(folder) if name.startswith(f"{head}."))
    return any("seq_relationship" not in name for name in names)


def initial_model(
    folder: Path | None, config: ModelConfig, languages: Languages, language_embeddings: bool, seed: int
) -> Any:
    """Return a new or a folder's model of the config's shape; new rows and a missing head are random."""
    if folder is None:
        types = languages.token_types if language_embeddings else 1
        return build(config, languages.rows, types, seed, languages.specials)
    saved = read_config(folder)
    types = languages.token_types if language_embeddings else min(saved.type_vocab_size, TEXT_TYPES)
    tables = {
        "token types": (saved.type_vocab_size, types),
        "embedding rows": (saved.vocab_size, max(saved.vocab_size, languages.size)),
        "the padding id": (saved.pad_token_id, languages.specials.pad),
    }
    _check_shape(folder, saved, config, **tables)
    check_same_types(folder, languages.tokenizer)
    loaded, missing = load_model(folder, with_head=True)
    saved.hidden_dropout_prob = config.dropout
    saved.attention_probs_dropout_prob = config.attention_dropout
    torch.manual_seed(seed)
    model: Any = type(loaded)(_changed(saved, vocab_size=max(saved.vocab_size, languages.rows)))
    weights, table = model.state_dict(keep_vars=True), model.get_input_embeddings().weight
    head = f"{HEADS[saved.model_type]}."
    with torch.no_grad():
        for name, tensor in loaded.state_dict().items():
            if not (missing and name.startswith(head) and weights[name] is not table):
                weights[name][: len(tensor)].copy_(tensor)
    return model


def _check_shape(folder: Path, saved: Any, config: ModelConfig, **tables: tuple[int, int]) -> None:
    sizes = {
        "layers": (saved.num_hidden_layers, config.layers),
        "heads": (saved.num_attention_heads, config.heads),
        "hidden": (saved.hidden_size, config.hidden),
        "ffn": (saved.intermediate_size, config.ffn),
        "length": (min(row_length(saved), config.length), config.length),
        **tables,
    }
    if different := [f"{name} {size}, not {other}" for name, (size, other) in sizes.items() if size != other]:
        raise BadInput([f"a model with a different shape: {difference}" for difference in different], folder)


def _changed(config: Any, **changes: Any) -> Any:
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
    """Copy a model from `with_rows` into the full one."""
    rows, state = torch.from_numpy(types), full_model.state_dict()
    with torch.no_grad():
        for name, tensor in trained.state_dict().items():
            if state[name].shape == tensor.shape:
                state[name].copy_(tensor)
            else:
                state[name][rows] = tensor.to(state[name].device)


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer and, to `tokenizers/`, one per language that only replaces letters."""
    write_tokenizer(languages.tokenizer, folder, languages.specials, length)
    state = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for name in languages.others:
        letters, table = languages.letters(name), languages[name].table
        if letters is None:
            continue
        language_folder = folder / TOKENIZERS / name
        language_folder.mkdir(parents=True)
        for file in (TOKENIZER, TOKENIZER_CONFIG):
            shutil.copy(folder / file, language_folder / file)
        if letters or (table != np.arange(len(table))).any():
            write_json(language_folder / TOKENIZER, derived_tokenizer(state, table, letters))


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer with a template, and its settings for transformers."""
    copy = open_tokenizer(tokenizer)
    start, pad, end, unknown, mask, *_ = map(copy.id_to_token, specials.ids)
    if copy.post_processor is None:
        copy.post_processor = TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} {end} $B {end}",
            special_tokens=[(start, specials.start), (end, specials.end)],
        )
        (folder / TOKENIZER).write_text(copy.to_str(pretty=True), encoding="utf-8", newline="\n")
    else:
        shutil.copy(tokenizer, folder / TOKENIZER)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",  # which uses tokenizer.json unchanged
        "bos_token": start,
        "cls_token": start,
        "eos_token": end,
        "sep_token": end,
        "pad_token": pad,
        "unk_token": unknown,
        "mask_token": mask,
        "model_max_length": length,
        "clean_up_tokenization_spaces": False,
    }
    write_json(folder / TOKENIZER_CONFIG, config)


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """Convert a `tokenizer.json` to a derived language's `letters`. It encodes text as the language's ids,
    `table` (V,), and decodes them, except for letters that are images without an image."""
    state = deepcopy(dict(tokenizer))
    model, added_tokens = state["model"], state["added_tokens"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, with list indices as ids
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    for token in added_tokens:
        token["id"] = int(table[token["id"]])
        # Special types must be matched before letters are replaced.
        token["normalized"] = token["normalized"] and not token["special"]
    if not letters:
        return state
    normalizers = [*_exchange({spelt: letter for letter, spelt in letters.items()}), state["normalizer"]]
    state["normalizer"] = {"type": "Sequence", "normalizers": [part for part in normalizers if part]}
    # Single characters represent the names of special types while letters are replaced.
    names = [token["content"] for token in added_tokens if token["special"]]
    stand_ins = {name: chr(_KEPT + i) for i, name in enumerate(names)}
    decoders = [_replace({"Regex": f"^{_escaped(name)}$"}, stand_in) for name, stand_in in stand_ins.items()]
    decoders.append(state["decoder"] or {"type": "WordPiece", "prefix": _NEVER, "cleanup": False})
    decoders += [{"type": "Fuse"}, *_exchange(letters)]
    decoders += [_replace({"String": stand_in}, name) for name, stand_in in stand_ins.items()]
    state["decoder"] = {"type": "Sequence", "decoders": decoders}
    return state


def _escaped(name: str) -> str:
    return "".join(letter if letter.isalnum() else f"\\{letter}" for letter in name)


def _exchange(letters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return replacements, by way of stand-ins, that map letters to their images."""
    stand_ins = {letter: chr(_SPARE + i) for i, letter in enumerate(letters)}
    rules = [_replace({"String": letter}, stand_in) for letter, stand_in in stand_ins.items()]
    return rules + [_replace({"String": stand_ins[letter]}, spelt) for letter, spelt in letters.items()]


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}
