"""The model that a run begins with: a new one, or that of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from derive.errors import BadInput
from derive.files import sha256
from derive.languages import Languages
from pretrain.architecture import Architecture, architecture_of, tells_languages_apart
from pretrain.config import ModelConfig
from pretrain.model import build
from pretrain.rows import put_back, with_rows
from pretrain.saved_model import WEIGHTS, load_model, read_config, tensor_files, weight_files
from pretrain.tokenizer import TOKENIZER, check_own_types, check_same_types


def weights_digest(folder: Path) -> str:
    """The sha256 of a checkpoint's weights; of several files, that of their names and digests.

    Raises:
        BadInput: there are none.
    """
    files = weight_files(folder)
    if len(files) == 1:
        return sha256(files[0])
    return hashlib.sha256("".join(f"{sha256(path)}  {path.name}\n" for path in files).encode()).hexdigest()


def check_start(folder: Path, config: ModelConfig) -> None:
    """Refuse a folder that no run of such a model can begin with, before anything else is made.

    Raises:
        BadInput: there is no model or no tokenizer, the model is of another architecture or shape or reads from left to
            right, its weights are not in safetensors, or its table and its tokenizer disagree.
    """
    saved = read_config(folder)
    spelt = architecture_of(saved)
    if saved.is_decoder:
        raise BadInput("is_decoder: it reads from left to right; expected an encoder, which reads both ways", folder)
    weight_files(folder)
    if not (folder / TOKENIZER).is_file():
        raise BadInput("no tokenizer that text is read with; AutoTokenizer saves one as this file", folder / TOKENIZER)
    check_own_types(folder, saved.vocab_size, saved.pad_token_id)
    _refuse(_other_shape(spelt, saved, config), folder)


def has_head(folder: Path) -> bool:
    """Whether a checkpoint has a prediction head, by the names of its weights alone.

    Raises:
        BadInput: there is no model, or its weights cannot be read.
    """
    head, names = architecture_of(read_config(folder)).head, tensor_files(folder)
    return any(name.startswith(f"{head}.") and "seq_relationship" not in name for name in names)  # BERT's other head


@dataclass(frozen=True)
class Beginning:
    """The model that a run begins with, of the folder `start` or with weights that are drawn.

    `apart` says whether it tells languages apart by an embedding. While it is trained it has rows of the types that the
    languages keep (`pretrain.rows`), and when it is finished, of all.
    """

    start: Path | None
    config: ModelConfig
    languages: Languages
    apart: bool
    seed: int

    def model(self) -> tuple[Any, list[str]]:
        """The model to train, and what of it had to be drawn because the folder has none.

        Raises:
            BadInput: as `model_of` does.
        """
        whole, drawn = self._whole()
        kept = self.languages.kept
        return (whole if kept is None else with_rows(whole, kept, self.languages.specials.pad)), drawn

    def end(self, trained: Any, digest: str | None) -> Any:
        """The model that was trained, with a row of each type; `digest` is that of the start's weights.

        Raises:
            BadInput: rows that were not trained have changed where they lie, or are gone.
        """
        if self.languages.kept is None:
            return trained
        if self.start and weights_digest(self.start) != digest:
            raise BadInput(
                "no longer the weights that the run began with, whose other rows it is to end with", self.start
            )
        whole, _ = self._whole()
        put_back(trained, self.languages.kept, whole)
        return whole

    def _whole(self) -> tuple[Any, list[str]]:
        languages = self.languages.whole
        if self.start:
            return model_of(self.start, self.config, languages, self.apart, self.seed)
        return new_model(self.config, languages, self.apart, self.seed), []


def new_model(config: ModelConfig, languages: Languages, language_embeddings: bool, seed: int) -> Any:
    """A RoBERTa with weights that are drawn."""
    return build(config, languages.rows, languages.token_types if language_embeddings else 1, seed, languages.specials)


def model_of(
    folder: Path, config: ModelConfig, languages: Languages, language_embeddings: bool, seed: int
) -> tuple[Any, list[str]]:
    """The model of a folder, of RoBERTa's, XLM-R's or BERT's architecture, and what of it had to be drawn.

    Drawn are the rows of new scripts, where the folder's table ends before them, and the prediction head of a folder
    that is an encoder alone. Dropout is the config's.

    Raises:
        BadInput: the checkpoint is damaged, its ids mean other types than those of the languages, or its model is of
            another shape: naming every difference.
    """
    saved = read_config(folder)
    spelt = architecture_of(saved)
    _refuse(_other_shape(spelt, saved, config) + _other_rows(saved, languages, language_embeddings), folder)
    check_same_types(folder, languages.tokenizer)
    saved.hidden_dropout_prob, saved.attention_probs_dropout_prob = config.dropout, config.attention_dropout
    loaded, missing = load_model(folder, spelt.masked_model, config=saved)
    saved = type(saved).from_dict(saved.to_dict() | {"vocab_size": max(saved.vocab_size, languages.rows)})
    torch.manual_seed(seed)
    model = spelt.masked_model(saved)
    head = _own_head(model, spelt)
    encoder_alone = head.keys() <= set(missing) | _twins(head, missing)
    if lacking := [name for name in missing if not (encoder_alone and name in head)]:
        raise BadInput(f"lacks the weights {', '.join(lacking)}", folder / WEIGHTS)
    drawn = ["the prediction head"] if encoder_alone else []
    if (own := int(loaded.config.vocab_size)) < languages.rows:
        drawn.append(f"rows {own:,} to {languages.rows - 1:,} of its table")
    _copy(loaded.state_dict(), model.state_dict(), leave=head.keys() if encoder_alone else set())
    return model, drawn


def _refuse(differences: list[str], folder: Path) -> None:
    if differences:
        raise BadInput(f"a model of another shape: {'; '.join(differences)}", folder)


def _other_shape(spelt: Architecture, saved: Any, config: ModelConfig) -> list[str]:
    """What of a saved model's layers and length is not what a run asks for, in words."""
    shape = {
        "layers": (saved.num_hidden_layers, config.layers),
        "heads": (saved.num_attention_heads, config.heads),
        "hidden": (saved.hidden_size, config.hidden),
        "ffn": (saved.intermediate_size, config.ffn),
    }
    wrong = [f"{name} {is_}, not {wanted}" for name, (is_, wanted) in shape.items() if is_ != wanted]
    if spelt.length(saved) < config.length:
        wrong.append(f"length {spelt.length(saved)}, not {config.length}")
    return wrong


def _other_rows(saved: Any, languages: Languages, language_embeddings: bool) -> list[str]:
    """What of a saved model's tables does not fit the languages, in words."""
    wrong = []
    if language_embeddings and saved.type_vocab_size != languages.token_types:
        wrong.append(f"{saved.type_vocab_size} token types, not {languages.token_types}")
    if not language_embeddings and tells_languages_apart(saved):
        wrong.append(f"{saved.type_vocab_size} token types, and the objective tells no languages apart")
    if saved.vocab_size < languages.size:
        wrong.append(f"a table of {saved.vocab_size:,} rows for {languages.size:,} types")
    if saved.pad_token_id != languages.specials.pad:
        wrong.append(f"padding is id {saved.pad_token_id}, not {languages.specials.pad}")
    return wrong


def _own_head(model: Any, spelt: Architecture) -> dict[str, Tensor]:
    """The prediction head's parameters by each of their names, but for the table that it shares with the embeddings."""
    table = model.get_input_embeddings().weight
    named = model.state_dict(keep_vars=True).items()
    return {name: tensor for name, tensor in named if name.startswith(f"{spelt.head}.") and tensor is not table}


def _twins(head: dict[str, Tensor], missing: list[str]) -> set[str]:
    """Other names of the parameters that are missing: transformers may tell one of them."""
    gone = {id(head[name]) for name in missing if name in head}
    return {name for name, tensor in head.items() if id(tensor) in gone}


def _copy(weights: dict[str, Tensor], into: dict[str, Tensor], leave: Set[str]) -> None:
    """Copy weights; a table with fewer rows fills the first ones."""
    with torch.no_grad():
        for name, tensor in weights.items():
            if name not in leave:
                into[name][: len(tensor)].copy_(tensor)
