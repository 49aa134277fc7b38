"""Masked language models, computed only where the loss needs them.

Shapes: B rows, L ids, hidden size H, N labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from calque.derive.types import OURS, Specials
from calque.pretrain.architecture import (
    TEXT_TYPES,
    first_position,
    has_languages,
    head_of,
    layer_at,
    layers_of,
)
from calque.pretrain.batch import LabelledPositions, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.lazy import F, Tensor, nn, torch

LOGITS = 2**30  # maximum number of logits in memory at a time (4 GiB), unless a single position has more


def build(
    config: ModelConfig, rows: int, token_types: int = 1, seed: int = 0, specials: Specials = OURS
) -> Any:
    """Create a RoBERTa model with `rows` embedding rows and seeded random weights. `token_types` is 1 or, for
    language embeddings, `Languages.token_types`."""
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
    """Compile all layers except the last, which is computed only at labelled positions."""
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
    """Return the summed cross-entropy at the labelled positions. The head and most of the last layer are
    computed only there. `hidden`, (B, L, H), are the states after `layer` layers, if already known."""
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
    return cross_entropy(head_of(model), top, labels, model.config.vocab_size)


def cross_entropy(head: Callable[[Tensor], Tensor], top: Tensor, labels: Tensor, types: int) -> Tensor:
    """Return the summed cross-entropy of labels (N,) for states (N, H); `head` computes logits, (N, types).
    More than LOGITS logits are computed in pieces, and again in the backward pass."""

    def loss(top: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(head(top).float(), labels, reduction="sum")

    size = max(1, LOGITS // types)
    if len(top) <= size:
        return loss(top, labels)
    from torch.utils.checkpoint import checkpoint

    pieces = zip(top.split(size), labels.split(size), strict=True)
    sums = [checkpoint(loss, *piece, use_reentrant=False, preserve_rng_state=False) for piece in pieces]
    return torch.stack(sums).sum()


def state_of(module: nn.Module) -> dict[str, Tensor]:
    """Return each parameter and persistent buffer once, under its first name."""
    names: dict[int, str] = {}
    state = module.state_dict(keep_vars=True)
    for name, tensor in state.items():
        names.setdefault(id(tensor), name)
    return {name: state[name].detach() for name in names.values()}


@contextmanager
def evaluating(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Evaluate the model, without gradients, inside a `with` block."""
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
