"""Masked language models (transformers' RoBERTa, XLM-R, BERT), losses where they are needed, and costs.

Shapes: B rows, L ids, hidden size H, N labels. Cost estimates: feed-forward size F, L layers, S ids per row,
V types.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

from calque.derive.vocabulary import OURS, Specials
from calque.pretrain.batch import LabelledPositions, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import F, Tensor, nn, torch

HEADS = {"roberta": "lm_head", "xlm-roberta": "lm_head", "bert": "cls"}
"""The supported types of models, and their prediction heads' attributes."""
TEXT_TYPES = 2  # BERT has two token types, one for each text in a row


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
    """Return a model's encoder layers."""
    return model.base_model.encoder.layer


def token_types_of(model: Any) -> Tensor:
    """Return the token type embeddings of a model or an encoder."""
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


def build(
    config: ModelConfig, rows: int, token_types: int = 1, seed: int = 0, specials: Specials = OURS
) -> Any:
    """Create a random RoBERTa model with `rows` embedding rows; `token_types` may embed languages."""
    from transformers import RobertaConfig, RobertaForMaskedLM  # slow to import

    torch.manual_seed(seed)
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=rows,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.ffn,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.attention_dropout,
            max_position_embeddings=config.length + specials.pad + 1,  # positions start after the padding id
            type_vocab_size=token_types,
            initializer_range=config.initializer_range,
            layer_norm_eps=1e-5,
            bos_token_id=specials.start,
            pad_token_id=specials.pad,
            eos_token_id=specials.end,
        )
    )


def compile_layers(model: Any, **options: Any) -> None:
    """Compile all layers except the last, which is special to labelled positions."""
    for layer in layers_of(model)[:-1]:
        layer.compile(**options)


def encode_each(model: Any, rows: Rows) -> Iterator[Tensor]:
    """Yield the embeddings and then the hidden states after each layer, all (B, L, H)."""
    hidden, padding = _embed(model, rows), _padding(model, rows)
    yield hidden
    for layer in layers_of(model):
        hidden = layer(hidden, padding)
        yield hidden


def encode(model: Any, rows: Rows, layer: int) -> Tensor:
    """Return the hidden states after `layer` layers (0: the embeddings), (B, L, H)."""
    return next(islice(encode_each(model, rows), layer, None))


def encode_first(model: Any, rows: Rows) -> Tensor:
    """Return the last layer's state at each row's first position, (B, H)."""
    *layers, last = layers_of(model)
    hidden = encode(model, rows, len(layers))
    row = torch.arange(len(rows), device=hidden.device)
    first = LabelledPositions(row * hidden.shape[1], row, 1)
    return layer_at(last, hidden, _padding(model, rows), first)


def prediction_loss(model: Any, rows: Rows, hidden: Tensor | None = None, layer: int = 0) -> Tensor:
    """Return the summed cross-entropy at the labelled positions; the head and most of the last layer are
    computed only there. `hidden`, (B, L, H), are the states after `layer` layers, if known."""
    labelled = rows.positions
    *layers, last = layers_of(model)
    hidden, padding = _embed(model, rows) if hidden is None else hidden, _padding(model, rows)
    for module in layers[layer:]:
        hidden = module(hidden, padding)
    if layer <= len(layers):
        top = layer_at(last, hidden, padding, labelled)
    else:
        top = hidden.flatten(0, 1).index_select(0, labelled.index)
    labels = rows.labels.flatten().index_select(0, labelled.index)
    return cross_entropy(head_of(model), top, labels)


def cross_entropy(head: Callable[[Tensor], Tensor], top: Tensor, labels: Tensor) -> Tensor:
    """Return the summed cross-entropy of labels (N,) for states (N, H); `head` computes logits, (N, V)."""
    return F.cross_entropy(head(top).float(), labels, reduction="sum")


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """Return each parameter and persistent buffer once, under its first name."""
    names: dict[int, str] = {}
    state = module.state_dict(keep_vars=True)
    for name, tensor in state.items():
        names.setdefault(id(tensor), name)
    return {name: state[name].detach() for name in names.values()}


@contextmanager
def evaluating(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Evaluate the model, without gradients, in a `with` block."""
    model.eval()
    with torch.no_grad(), autocast(device):
        yield
    model.train()


def autocast(device: torch.device) -> torch.autocast:
    """Use bfloat16 mixed precision on a GPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def _padding(model: Any, rows: Rows) -> Tensor | None:
    if not rows.padded:
        return None
    is_id = rows.ids != model.config.pad_token_id if rows.places is None else rows.places >= 0
    return is_id[:, None, None]


def _embed(model: Any, rows: Rows) -> Tensor:
    config, places, positions = model.config, rows.places, None
    if places is None and not rows.padded:
        places = torch.arange(rows.ids.shape[1], device=rows.ids.device)[None]
    if places is not None:
        positions = (places + first_position(config)).clamp(min=0)  # places of padding are -1
    types = torch.zeros_like(rows.ids[:1, :1])
    if has_languages(config.type_vocab_size):
        types = rows.languages
    elif rows.segments is not None and config.type_vocab_size == TEXT_TYPES:
        types = rows.segments
    return model.base_model.embeddings(input_ids=rows.ids, token_type_ids=types, position_ids=positions)


EFFICIENCY = 0.4  # the fraction of the peak matrix-product rate that training is assumed to reach


def parameters(model: ModelConfig, types: int) -> int:
    """Count a RoBERTa model's parameters, with `types` tied embedding rows and no language embeddings."""
    h, f = model.hidden, model.ffn
    layer = 4 * (h * h + h) + (h * f + f) + (f * h + h) + 4 * h
    embeddings = (types + model.length + 2 + 1) * h + 2 * h
    head = (h * h + h) + 2 * h + types
    return embeddings + model.layers * layer + head


def flops_per_id(model: ModelConfig, types: int, at_head: float) -> float:
    """Estimate training operations per id: 6 L (4 H^2 + 2 H F) + 12 L S H + 6 (H^2 + H V), except that the
    head and most of the last layer process only the labelled ids, a fraction `at_head`."""
    h = model.hidden
    layer = 3 * (2 * (4 * h * h + 2 * h * model.ffn) + 4 * model.length * h)
    keys = 12 * h * h
    return (model.layers - 1) * layer + keys + at_head * (layer - keys + 6 * (h * h + h * types))


@cache
def run_flops(threads: int, parallel: int) -> float:
    """Measure the operations per second of matrix products (on a GPU in bfloat16) that one of `parallel` runs
    can do, with a core per thread or a share of the GPU."""
    gpu = torch.cuda.is_available()
    share = 1 / parallel if gpu else min(1.0, threads / (os.cpu_count() or 1))
    device, kind, size = ("cuda", torch.bfloat16, 8192) if gpu else ("cpu", torch.float32, 512)
    a = torch.randn(size, size, device=device, dtype=kind)
    best, out = 0.0, torch.empty_like(a)
    for _ in range(20):  # the first product is a warm-up
        start = time.perf_counter()
        torch.mm(a, a, out=out)
        if gpu:
            torch.cuda.synchronize()
        best = max(best, 2 * size**3 / (time.perf_counter() - start))
    return best * share
