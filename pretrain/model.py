"""transformers' RoBERTa, computed where the loss reads it. Shapes: B rows, L ids, H hidden, N labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import RobertaConfig, RobertaForMaskedLM

from derive.types import END, PAD, START
from pretrain.batch import UNLABELLED, Rows
from pretrain.config import ModelConfig
from pretrain.data import LANGUAGES


def build(config: ModelConfig, types: int, language_embeddings: bool, seed: int) -> RobertaForMaskedLM:
    """A new model with a table of `types` rows; the same seed gives the same weights."""
    torch.manual_seed(seed)
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=types,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.ffn,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.attention_dropout,
            max_position_embeddings=config.length + PAD + 1,  # positions count from PAD + 1
            type_vocab_size=LANGUAGES if language_embeddings else 1,
            initializer_range=config.initializer_range,
            layer_norm_eps=1e-5,
            bos_token_id=START,
            pad_token_id=PAD,
            eos_token_id=END,
        )
    )


def add_heads(model: RobertaForMaskedLM, make: Callable[[int], dict[str, torch.nn.Module]], seed: int) -> None:
    """Make parameters that an objective has of its own part of a model; the same seed gives the same weights.

    `make` is `Objective.heads`: it takes the model's width.
    """
    torch.manual_seed(seed)
    for name, head in make(model.config.hidden_size).items():
        model.add_module(name, head)


def encode(model: RobertaForMaskedLM, rows: Rows, layer: int) -> Tensor:
    """What the positions hold after `layer` layers, (B, L, H); 0 are the embeddings. Nothing above is computed."""
    return _through(model.roberta.encoder.layer[:layer], _embed(model, rows), rows)


def prediction_loss(model: RobertaForMaskedLM, rows: Rows, hidden: Tensor | None = None, layer: int = 0) -> Tensor:
    """Summed cross-entropy of the labelled positions, equal to N times transformers' own mean.

    Only what the loss reads is computed: at 15 % of the positions the head, the dearest part of a small
    model, costs 15 %, and so does most of the last layer. Where `hidden`, (B, L, H), is there after `layer`
    layers already, the pass goes on from it.
    """
    at = (rows.labels.flatten() != UNLABELLED).nonzero().squeeze(1)
    *layers, last = model.roberta.encoder.layer
    if hidden is None:
        hidden = _embed(model, rows)
    if layer > len(layers):
        top = hidden.flatten(0, 1).index_select(0, at)
    else:
        top = _layer_at(last, _through(layers[layer:], hidden, rows), _padding(rows), at)
    return F.cross_entropy(model.lm_head(top).float(), rows.labels.flatten().index_select(0, at), reduction="sum")


def _through(layers: Iterable[Any], hidden: Tensor, rows: Rows) -> Tensor:
    padding = _padding(rows)
    for layer in layers:
        hidden = layer(hidden, padding)
    return hidden


def _padding(rows: Rows) -> Tensor | None:
    """The positions to attend to, (B, 1, 1, L), where not all are."""
    return (rows.ids != PAD)[:, None, None] if rows.padded else None


def _embed(model: RobertaForMaskedLM, rows: Rows) -> Tensor:
    """Embeddings, (B, L, H). Positions and token types that all rows share are looked up once."""
    device = rows.ids.device
    positions = rows.positions
    if positions is None and not rows.padded:
        positions = torch.arange(PAD + 1, PAD + 1 + rows.ids.shape[1], device=device)[None]
    return model.roberta.embeddings(
        input_ids=rows.ids,
        token_type_ids=(
            rows.languages if model.config.type_vocab_size > 1 else torch.zeros(1, 1, dtype=torch.long, device=device)
        ),
        position_ids=positions,
    )


def _layer_at(layer: Any, hidden: Tensor, padding: Tensor | None, at: Tensor) -> Tensor:
    """A layer's output at the flat positions `at` (N,) alone, (N, H): all positions are attended to, these attend.

    Rows have different numbers of them, so queries are padded to the most that a row has.
    """
    attention = layer.attention.self
    rows, length, _ = hidden.shape
    counts = torch.bincount(at // length, minlength=rows)
    most = max(1, int(counts.max()))
    row = at // length
    slot = row * most + torch.arange(len(at), device=at.device) - (counts.cumsum(0) - counts)[row]
    here = hidden.flatten(0, 1).index_select(0, at)
    query = attention.query(here)
    query = query.new_zeros(rows * most, query.shape[1]).index_copy(0, slot, query).view(rows, most, -1)
    q, k, v = (
        x.unflatten(2, (attention.num_attention_heads, -1)).transpose(1, 2)
        for x in (query, attention.key(hidden), attention.value(hidden))
    )
    dropout = attention.dropout.p if attention.training else 0.0
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=padding, dropout_p=dropout)
    mixed = mixed.transpose(1, 2).flatten(2).flatten(0, 1).index_select(0, slot)
    return layer.feed_forward_chunk(layer.attention.output(mixed, here))
