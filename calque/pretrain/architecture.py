"""Uniform access to RoBERTa, XLM-R and BERT in transformers, whose module names and position ids differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calque.derive.errors import BadInput
from calque.pretrain.batch import LabelledPositions
from calque.pretrain.lazy import F, Tensor

TEXT_TYPES = 2  # BERT has two token types, one for each text in a row


@dataclass(frozen=True)
class Architecture:
    """A family of masked language models.

    stem: the start of the class names in transformers.
    base, head: the attributes that contain the encoder and the prediction head.
    counts_from_padding: whether position ids start after the padding id.
    """

    model_type: str
    stem: str
    base: str
    head: str
    counts_from_padding: bool

    @property
    def config(self) -> Any:
        return self._class("Config")

    @property
    def masked_model(self) -> Any:
        return self._class("ForMaskedLM")

    def _class(self, ending: str) -> Any:
        import transformers  # slow to import

        return getattr(transformers, self.stem + ending)

    def encoder(self, model: Any) -> Any:
        return getattr(model, self.base)

    def tables(self, model: Any) -> tuple[Tensor, Tensor]:
        """Return the word embeddings and token type embeddings of a model or of its encoder alone."""
        embeddings = model.base_model.embeddings
        return embeddings.word_embeddings.weight, embeddings.token_type_embeddings.weight

    def layers(self, model: Any) -> Any:
        return self.encoder(model).encoder.layer

    def logits(self, model: Any, hidden: Tensor) -> Tensor:
        return getattr(model, self.head)(hidden)

    def text_logits(self, model: Any, first: Tensor) -> Tensor:
        """Apply the classification head to states at texts' first positions, (B, H)."""
        states, pooler = first[:, None], self.encoder(model).pooler
        return model.classifier(states if pooler is None else model.dropout(pooler(states)))

    def first_position(self, config: Any) -> int:
        return int(config.pad_token_id) + 1 if self.counts_from_padding else 0

    def length(self, config: Any) -> int:
        """Return the maximum row length in ids."""
        return int(config.max_position_embeddings) - self.first_position(config)


ROBERTA = Architecture("roberta", "Roberta", "roberta", "lm_head", counts_from_padding=True)
XLM_R = Architecture("xlm-roberta", "XLMRoberta", "roberta", "lm_head", counts_from_padding=True)
BERT = Architecture("bert", "Bert", "bert", "cls", counts_from_padding=False)
ARCHITECTURES = {architecture.model_type: architecture for architecture in (ROBERTA, XLM_R, BERT)}


def architecture_of(config: Any) -> Architecture:
    """Return the architecture for a transformers configuration."""
    if config.model_type not in ARCHITECTURES:
        supported = f"supported types are {', '.join(ARCHITECTURES)}"
        fault = f"models of type {config.model_type!r} are not supported; {supported}"
        raise BadInput(fault, getattr(config, "name_or_path", None) or None)
    return ARCHITECTURES[config.model_type]


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
