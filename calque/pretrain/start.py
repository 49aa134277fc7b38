"""The model that a run starts from. To save memory, it contains embedding rows only for types in the training
text until the run's checkpoint is written."""

from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.vocabulary import TOKENIZER
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import torch
from calque.pretrain.model import HEADS, build, counts_from_padding, has_languages, masked_model, row_length
from calque.pretrain.saved_model import (
    CONFIG,
    load_model,
    read_config,
    read_tensor,
    tensor_names,
    weights_file,
)
from calque.pretrain.saved_tokenizer import check_own_types, check_same_types, check_tokenizer

OTHER = "a model with a different shape"


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
    names = tensor_names(folder)
    tied = masked_model(saved)._tied_weights_keys if saved.tie_word_embeddings else {}
    for name, first in tied.items():
        tensors = (read_tensor(folder, key) for key in (name, first))
        if {name, first} <= names and not torch.equal(*tensors):
            fault = f"{name} differs from {first}, but {CONFIG} sets tie_word_embeddings"
            raise BadInput(f"{fault}; remove one of them, or set it to false", weights_file(folder))


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
