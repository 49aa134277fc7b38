"""Parts of RoBERTa, XLM-R and BERT models in transformers, whose heads and position ids differ."""

from __future__ import annotations

from typing import Any

from calque.pretrain.batch import LabelledPositions
from calque.pretrain.lazy import F, Tensor

HEADS = {"roberta": "lm_head", "xlm-roberta": "lm_head", "bert": "cls"}
"""The supported types of models, and the attributes that contain their prediction heads."""
TEXT_TYPES = 2  # BERT has two token types, one for each text in a row


def masked_model(config: Any) -> Any:
    """Return the class of a masked language model with this transformers configuration."""
    from transformers import MODEL_FOR_MASKED_LM_MAPPING  # slow to import

    return MODEL_FOR_MASKED_LM_MAPPING[type(config)]


def counts_from_padding(config: Any) -> bool:
    """Whether position ids start after the padding id."""
    return bool(config.model_type != "bert")


def first_position(config: Any) -> int:
    """Return the position id of a row's first id."""
    return int(config.pad_token_id) + 1 if counts_from_padding(config) else 0


def row_length(config: Any) -> int:
    """Return the maximum row length in ids."""
    return int(config.max_position_embeddings) - first_position(config)


def layers_of(model: Any) -> Any:
    """Return the list of a model's encoder layers."""
    return model.base_model.encoder.layer


def token_types_of(model: Any) -> Tensor:
    """Return the token type embeddings of a model or of its encoder alone."""
    types: Tensor = model.base_model.embeddings.token_type_embeddings.weight
    return types


def head_of(model: Any) -> Any:
    """Return the prediction head, which computes logits from states."""
    return getattr(model, HEADS[model.config.model_type])


def text_logits(model: Any, first: Tensor) -> Tensor:
    """Apply the classification head to states at texts' first positions, (B, H)."""
    states, pooler = first[:, None], model.base_model.pooler
    return model.classifier(states if pooler is None else model.dropout(pooler(states)))


def main_layer(layers: int) -> int:
    """Return the default layer to measure in an encoder (layer 8 of 12 in XLM-Align)."""
    return max(1, round(layers * 8 / 12))


def has_languages(token_types: int) -> bool:
    """Whether token types represent languages; one or two types never do."""
    return token_types > TEXT_TYPES


def layer_at(layer: Any, hidden: Tensor, padding: Tensor | None, labelled: LabelledPositions) -> Tensor:
    """Compute a layer's output at the labelled positions only, (N, H)."""
    attention, rows = layer.attention.self, len(hidden)
    states = hidden.flatten(0, 1).index_select(0, labelled.index)
    query = attention.query(states)
    query = query.new_zeros(rows * labelled.slots, query.shape[1]).index_copy(0, labelled.slot, query)
    q, k, v = (
        x.unflatten(2, (attention.num_attention_heads, -1)).transpose(1, 2)
        for x in (query.view(rows, labelled.slots, -1), attention.key(hidden), attention.value(hidden))
    )
    dropout = attention.dropout.p if attention.training else 0.0
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=padding, dropout_p=dropout)
    mixed = mixed.transpose(1, 2).flatten(2).flatten(0, 1).index_select(0, labelled.slot)
    return layer.feed_forward_chunk(layer.attention.output(mixed, states))
