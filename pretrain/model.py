"""Masked language models, computed where the loss reads them. Shapes: B rows, L ids, H hidden, N labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from derive.types import OURS, Specials
from pretrain.architecture import (
    ROBERTA,
    TEXT_TYPES,
    after_attention,
    architecture_of,
    attention_of,
    tells_languages_apart,
)
from pretrain.batch import Asked, Rows
from pretrain.config import ModelConfig

LOGITS = 2**30
"""How many logits a loss may hold at a time, 4 GiB of them: what it computes beyond that, it computes in pieces."""


def build(config: ModelConfig, rows: int, token_types: int = 1, seed: int = 0, specials: Specials = OURS) -> Any:
    """A new RoBERTa with a table of `rows` rows; the same seed gives the same weights.

    `token_types` is 1, or `Languages.token_types` for a model that tells languages apart by an embedding.
    """
    torch.manual_seed(seed)
    return ROBERTA.masked_model(
        ROBERTA.config(
            vocab_size=rows,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.ffn,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.attention_dropout,
            max_position_embeddings=config.length + specials.pad + 1,  # positions count from padding's id
            type_vocab_size=token_types,
            initializer_range=config.initializer_range,
            layer_norm_eps=1e-5,
            bos_token_id=specials.start,
            pad_token_id=specials.pad,
            eos_token_id=specials.end,
        )
    )


def encode(model: Any, rows: Rows, layer: int) -> Tensor:
    """What the positions hold after `layer` layers, (B, L, H); 0 are the embeddings. Nothing above is computed."""
    layers = architecture_of(model.config).layers(model)
    return _through(layers[:layer], _embed(model, rows), _padding(model, rows))


def encode_each(model: Any, rows: Rows) -> Iterator[Tensor]:
    """What the positions hold in the embeddings and then after each layer, (B, L, H) each."""
    hidden, padding = _embed(model, rows), _padding(model, rows)
    yield hidden
    for layer in architecture_of(model.config).layers(model):
        hidden = layer(hidden, padding)
        yield hidden


def encode_first(model: Any, rows: Rows) -> Tensor:
    """What the first position of each row holds after the last layer, (B, H); of that layer no more is computed."""
    *layers, last = architecture_of(model.config).layers(model)
    padding = _padding(model, rows)
    hidden = _through(layers, _embed(model, rows), padding)
    row = torch.arange(len(rows), device=hidden.device)
    return _layer_at(last, hidden, padding, Asked(row * hidden.shape[1], row, 1))


def prediction_loss(
    model: Any, rows: Rows, hidden: Tensor | None = None, layer: int = 0, logits: int = LOGITS
) -> Tensor:
    """Summed cross-entropy of the labelled positions, equal to N times transformers' own mean.

    Only what the loss reads is computed: at 15 % of the positions the head, the dearest part of a small
    model, costs 15 %, and so does most of the last layer. Where `hidden`, (B, L, H), is there after `layer`
    layers already, the pass goes on from it. No more than `logits` logits are in memory at a time, if one position
    has no more.
    """
    spelt, asked = architecture_of(model.config), rows.asked
    *layers, last = spelt.layers(model)
    if hidden is None:
        hidden = _embed(model, rows)
    if layer > len(layers):
        top = hidden.flatten(0, 1).index_select(0, asked.at)
    else:
        padding = _padding(model, rows)
        top = _layer_at(last, _through(layers[layer:], hidden, padding), padding, asked)
    labels = rows.labels.flatten().index_select(0, asked.at)
    return cross_entropy(lambda top: spelt.logits(model, top), top, labels, model.config.vocab_size, logits)


def cross_entropy(
    head: Callable[[Tensor], Tensor], top: Tensor, labels: Tensor, types: int, most: int = LOGITS
) -> Tensor:
    """Summed cross-entropy of labels (N,) at hidden states (N, H), in pieces where there are more than `most` logits.

    `head` makes logits (N, types) of them; those of a piece are computed again on the way back, and need not be kept.
    """

    def of(top: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(head(top).float(), labels, reduction="sum")

    size = max(1, most // types)
    if len(top) <= size:
        return of(top, labels)
    pieces = zip(top.split(size), labels.split(size), strict=True)
    sums = [checkpoint(of, *piece, use_reentrant=False, preserve_rng_state=False) for piece in pieces]
    return torch.stack(sums).sum()


@contextmanager
def looking(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Within it a model is in evaluation mode, and there is no gradient."""
    model.eval()
    with torch.no_grad(), autocast(device):
        yield
    model.train()


def autocast(device: torch.device) -> torch.autocast:
    """Products in bfloat16 on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def _through(layers: Iterable[Any], hidden: Tensor, padding: Tensor | None) -> Tensor:
    for layer in layers:
        hidden = layer(hidden, padding)
    return hidden


def _padding(model: Any, rows: Rows) -> Tensor | None:
    """The positions to attend to, (B, 1, 1, L), where not all are."""
    return (rows.ids != model.config.pad_token_id)[:, None, None] if rows.padded else None


def _embed(model: Any, rows: Rows) -> Tensor:
    """Embeddings, (B, L, H). Positions and token types that all rows share are looked up once."""
    config, device = model.config, rows.ids.device
    spelt, positions = architecture_of(config), None
    if rows.places is not None:
        positions = spelt.position_ids(config, rows.places)
    elif not rows.padded:
        first = spelt.first_position(config)
        positions = torch.arange(first, first + rows.ids.shape[1], device=device)[None]
    types = torch.zeros(1, 1, dtype=torch.long, device=device)
    if tells_languages_apart(config):
        types = rows.languages
    elif rows.segments is not None and config.type_vocab_size == TEXT_TYPES:
        types = rows.segments
    embeddings: Tensor = spelt.embeddings(model)(input_ids=rows.ids, token_type_ids=types, position_ids=positions)
    return embeddings


def _layer_at(layer: Any, hidden: Tensor, padding: Tensor | None, asked: Asked) -> Tensor:
    """A layer's output at the labelled positions alone, (N, H): all positions are attended to, these attend.

    Rows have different numbers of them, so queries are padded to the most that a row has.
    """
    attention, rows = attention_of(layer), len(hidden)
    here = hidden.flatten(0, 1).index_select(0, asked.at)
    query = attention.query(here)
    query = query.new_zeros(rows * asked.most, query.shape[1]).index_copy(0, asked.slot, query)
    q, k, v = (
        x.unflatten(2, (attention.heads, -1)).transpose(1, 2)
        for x in (query.view(rows, asked.most, -1), attention.key(hidden), attention.value(hidden))
    )
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=padding, dropout_p=attention.dropout)
    mixed = mixed.transpose(1, 2).flatten(2).flatten(0, 1).index_select(0, asked.slot)
    return after_attention(layer, mixed, here)
