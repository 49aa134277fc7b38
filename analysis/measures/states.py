"""Compute hidden states. Shapes: N rows, L layers including the embeddings, H hidden."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.pretrain.architecture import architecture_of, has_languages
from calque.pretrain.lazy import Tensor, inference_mode, nn, torch
from calque.pretrain.saved_model import WEIGHTS, load_model, read_config

ROWS = 128  # rows of similar length per batch; affects only rounding


def model_with_head(model: MeasuredModel) -> Any:
    """Load a checkpoint's masked language model in evaluation mode. Raises BadInput if its prediction head is
    missing."""
    spelt = architecture_of(read_config(model.checkpoint))
    network: Any
    network, missing = load_model(model.checkpoint, spelt.masked_model)
    if headless := [name for name in missing if name.startswith(f"{spelt.head}.")]:
        what = f"the model has no prediction head ({headless[0]} is missing)"
        raise BadInput(f"{what}, so its loss and gradients cannot be measured", model.checkpoint / WEIGHTS)
    return network.to(model.device).eval()


@inference_mode
def states(
    model: Any, rows: Sequence[np.ndarray], language: int
) -> Iterator[tuple[list[int], tuple[Tensor, ...]]]:
    """Encode rows of ids in batches, and yield each batch's row indices and its states at each layer: L
    tensors (rows, ids, H), with arbitrary values at padding."""
    spelt, config, device = architecture_of(model.config), model.config, next(model.parameters()).device
    encoder, number = spelt.encoder(model), language if has_languages(config.type_vocab_size) else 0
    ordered = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    for first in range(0, len(ordered), ROWS):
        places = ordered[first : first + ROWS]
        tensors = [torch.from_numpy(rows[place]) for place in places]
        ids = nn.utils.rnn.pad_sequence(tensors, True, config.pad_token_id).to(device)
        real = ids != config.pad_token_id
        mask, types = None if real.all() else real.long(), torch.full_like(ids, number)
        output = encoder(ids, attention_mask=mask, token_type_ids=types, output_hidden_states=True)
        yield places, output.hidden_states


def mean_states(hidden: Sequence[Tensor], first: int, sizes: Sequence[int]) -> Tensor:
    """Average the states of `sizes` (N,) ids in each row, from position `first`, at every layer: (L, N,
    H)."""
    place = torch.arange(hidden[0].shape[1], device=hidden[0].device) - first
    inside = (place >= 0) & (place < torch.tensor(sizes, device=place.device)[:, None])  # (N, ids)
    counts = inside.sum(1, keepdim=True)
    return torch.stack([layer.masked_fill(~inside[:, :, None], 0.0).sum(1) / counts for layer in hidden])


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """Average each row's states at every layer, (L, N, H), excluding the special ids at both ends."""
    return in_order(
        (places, mean_states(hidden, 1, [len(rows[place]) - 2 for place in places]))
        for places, hidden in states(model, rows, language)
    )


def in_order(batches: Iterable[tuple[Sequence[int], Tensor]]) -> Tensor:
    """Join batches of row indices and means (L, B, H) into one tensor (L, N, H), in the rows' order."""
    order, means = list[int](), list[Tensor]()
    for places, tensor in batches:
        order += places
        means.append(tensor)
    return torch.cat(means, dim=1)[:, torch.tensor(order).argsort().to(means[0].device)]
