"""transformers' RoBERTa, with its head at the labelled positions only. Shapes: B rows, L ids, H hidden, N labels."""

from __future__ import annotations

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


def encode(model: RobertaForMaskedLM, rows: Rows) -> Tensor:
    """Last hidden states, (B, L, H)."""
    return model.roberta(
        input_ids=rows.ids,
        attention_mask=(rows.ids != PAD).long() if rows.padded else None,
        token_type_ids=rows.languages if model.config.type_vocab_size > 1 else torch.zeros_like(rows.ids),
    ).last_hidden_state


def prediction_loss(model: RobertaForMaskedLM, rows: Rows) -> Tensor:
    """Summed cross-entropy of the labelled positions, equal to N times transformers' own mean.

    The head is the dearest part of a small model: at 15 % of the positions it costs 15 %.
    """
    labels = rows.labels.flatten()
    at = (labels != UNLABELLED).nonzero().squeeze(1)
    hidden = encode(model, rows).flatten(0, 1).index_select(0, at)
    return F.cross_entropy(model.lm_head(hidden).float(), labels.index_select(0, at), reduction="sum")
