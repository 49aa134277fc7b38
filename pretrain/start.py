"""The model that a run starts from: a new one, or a folder's; and its rows while it is trained.

A pretrained encoder has a row for each type of its tokenizer (XLM-R's 250,037), and text of a few languages uses a
fraction of them. While it is trained, a model has the rows of the types that are kept: softmax, gradient, AdamW's
moments and states are of that size. Its checkpoint has all rows again, those that were not kept as they were.

Shapes: V types of the tokenizer, R of them kept.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.pretrain.architecture import architecture_of, has_languages
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build
from calque.pretrain.saved_model import (
    TOKENIZER,
    WEIGHTS,
    check_own_types,
    check_same_types,
    load_model,
    read_config,
    tensor_files,
    weight_files,
    weights_digest,
)


def check_start(folder: Path, config: ModelConfig) -> None:
    """Refuse a folder that no run of such a model can start from, before anything else is made."""
    saved = read_config(folder)
    differences = _other_shape(saved, config)
    if saved.is_decoder:
        raise BadInput("is_decoder: it reads from left to right; expected an encoder, which reads both ways", folder)
    weight_files(folder)
    if not (folder / TOKENIZER).is_file():
        raise BadInput("no tokenizer that text is read with; AutoTokenizer saves one as this file", folder / TOKENIZER)
    check_own_types(folder, saved.vocab_size, saved.pad_token_id)
    _refuse(differences, folder)


def has_head(folder: Path) -> bool:
    """Whether a checkpoint has a prediction head, by the names of its weights alone."""
    head, names = architecture_of(read_config(folder)).head, tensor_files(folder)
    return any(name.startswith(f"{head}.") and "seq_relationship" not in name for name in names)  # BERT's other head


@dataclass(frozen=True)
class InitialModel:
    """The model that a run starts from: the folder `start`'s, or one with new weights. While it is trained it has rows
    of the types that the languages keep, and when it is finished, of all. A folder's model is of RoBERTa's, XLM-R's or
    BERT's architecture and has the config's shape; dropout is the config's."""

    start: Path | None
    config: ModelConfig
    languages: Languages
    language_embeddings: bool
    seed: int

    def load(self) -> tuple[Any, list[str]]:
        """The model to train, and what of it had to be drawn because the folder has none."""
        whole, drawn = self.whole()
        kept = self.languages.kept
        return (whole if kept is None else with_rows(whole, kept, self.languages.specials.pad)), drawn

    def complete(self, trained: Any, digest: str | None) -> Any:
        """The model that was trained, with a row of each type; `digest` is that of the start's weights."""
        if self.languages.kept is None:
            return trained
        if self.start and weights_digest(self.start) != digest:
            raise BadInput("no longer the weights that the run began with, whose other rows it is to keep", self.start)
        whole, _ = self.whole()
        put_back(trained, self.languages.kept, whole)
        return whole

    def whole(self) -> tuple[Any, list[str]]:
        """The model with a row of each type, and what of it had to be drawn. Drawn are the rows of new scripts, where
        the folder's table ends before them, and the prediction head of a folder that is an encoder alone."""
        folder, languages, config = self.start, self.languages.whole, self.config
        if folder is None:
            types = languages.token_types if self.language_embeddings else 1
            return build(config, languages.rows, types, self.seed, languages.specials), []
        saved = read_config(folder)
        _refuse(_other_shape(saved, config) + _other_rows(saved, languages, self.language_embeddings), folder)
        check_same_types(folder, languages.tokenizer)
        architecture = architecture_of(saved)
        saved.hidden_dropout_prob, saved.attention_probs_dropout_prob = config.dropout, config.attention_dropout
        loaded, missing = load_model(folder, architecture.masked_model, config=saved)
        saved = type(saved).from_dict(saved.to_dict() | {"vocab_size": max(saved.vocab_size, languages.rows)})
        torch.manual_seed(self.seed)
        model = architecture.masked_model(saved)
        table, weights = model.get_input_embeddings().weight, model.state_dict(keep_vars=True)
        own = {n: each for n, each in weights.items() if n.startswith(f"{architecture.head}.") and each is not table}
        # A parameter has several names in weights, and transformers may report one of them.
        encoder_alone = {id(each) for each in own.values()} == {id(own[name]) for name in missing if name in own}
        if lacking := [name for name in missing if not (encoder_alone and name in own)]:
            raise BadInput(f"lacks the weights {', '.join(lacking)}", folder / WEIGHTS)
        drawn = ["the prediction head"] if encoder_alone else []
        if (rows := int(loaded.config.vocab_size)) < languages.rows:
            drawn.append(f"rows {rows:,} to {languages.rows - 1:,} of its table")
        with torch.no_grad():
            for name, tensor in loaded.state_dict().items():
                if not (encoder_alone and name in own):
                    weights[name][: len(tensor)].copy_(tensor)
        return model, drawn


def _refuse(differences: list[str], folder: Path) -> None:
    if differences:
        raise BadInput(f"a model of another shape: {'; '.join(differences)}", folder)


def _other_shape(saved: Any, config: ModelConfig) -> list[str]:
    """How a saved model's layers and length differ from a run's, in words."""
    length = architecture_of(saved).length(saved)
    shape = {
        "layers": (saved.num_hidden_layers, config.layers),
        "heads": (saved.num_attention_heads, config.heads),
        "hidden": (saved.hidden_size, config.hidden),
        "ffn": (saved.intermediate_size, config.ffn),
    }
    wrong = [f"{name} {is_}, not {wanted}" for name, (is_, wanted) in shape.items() if is_ != wanted]
    if length < config.length:
        wrong.append(f"length {length}, not {config.length}")
    return wrong


def _other_rows(saved: Any, languages: Languages, language_embeddings: bool) -> list[str]:
    """How a saved model's tables do not fit the languages, in words."""
    wrong = []
    if language_embeddings and saved.type_vocab_size != languages.token_types:
        wrong.append(f"{saved.type_vocab_size} token types, not {languages.token_types}")
    if not language_embeddings and has_languages(saved.type_vocab_size):
        wrong.append(f"{saved.type_vocab_size} token types, and the objective has no language embeddings")
    if saved.vocab_size < languages.size:
        wrong.append(f"a table of {saved.vocab_size:,} rows for {languages.size:,} types")
    if saved.pad_token_id != languages.specials.pad:
        wrong.append(f"padding is id {saved.pad_token_id}, not {languages.specials.pad}")
    return wrong


def with_rows(model: Any, kept: np.ndarray, pad: int) -> Any:
    """The model with rows of the types `kept` (R,) int64 alone, in their order; `pad` is the row of padding."""
    config = model.config
    if architecture_of(config).counts_from_padding and pad != config.pad_token_id:
        before = f"so all types before it need rows; {pad} of them have one"
        raise BadInput(f"positions count from padding's id, {config.pad_token_id}, {before}")
    small = type(model)(type(config).from_dict(config.to_dict() | {"vocab_size": len(kept), "pad_token_id": pad}))
    rows, whole = torch.from_numpy(kept), model.state_dict()
    with torch.no_grad():
        for name, tensor in small.state_dict().items():  # what has a row for each type is smaller in the small model
            tensor.copy_(whole[name][rows] if whole[name].shape != tensor.shape else whole[name])
    return small


def put_back(trained: Any, kept: np.ndarray, into: Any) -> None:
    """Write what `with_rows` made and a run trained into the whole model; rows that were not kept stay as they are."""
    rows, whole = torch.from_numpy(kept), into.state_dict()
    with torch.no_grad():
        for name, tensor in trained.state_dict().items():
            if whole[name].shape != tensor.shape:
                whole[name][rows] = tensor.to(whole[name].device)
            else:
                whole[name].copy_(tensor)
