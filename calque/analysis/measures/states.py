"""Compute hidden states, and find vectors' nearest neighbours in another language. Shapes: N and M rows or
vectors, L layers including the embeddings, H hidden."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import F, Tensor, inference_mode, nn, torch
from calque.pretrain.model import HEADS, encode_each
from calque.pretrain.saved_model import WEIGHTS, load_model

ROWS = 128  # rows of similar length per batch; affects only rounding
NONE = -1  # replaces the nearest row's index in case of a tie
BLOCK = 512
CSLS_NEIGHBOURS = 10  # as in MUSE (Conneau et al. 2018)
MARGIN_NEIGHBOURS = 4  # as in Artetxe and Schwenk 2019


def model_with_head(model: MeasuredModel) -> Any:
    """Load a masked language model. Raises BadInput if its prediction head is missing."""
    network: Any
    network, missing = load_model(model.checkpoint, with_head=True)
    if headless := [name for name in missing if name.startswith(f"{HEADS[network.config.model_type]}.")]:
        what = f"the model has no prediction head ({headless[0]} is missing)"
        raise BadInput(f"{what}, so its predictions cannot be measured", model.checkpoint / WEIGHTS)
    return network.to(model.device).eval()


@inference_mode
def states(
    model: Any, rows: Sequence[np.ndarray], language: int
) -> Iterator[tuple[list[int], tuple[Tensor, ...]]]:
    """Yield batches of row indices, and their rows' states (rows, ids, H) at each layer, with arbitrary
    values at padding."""
    pad, device = model.config.pad_token_id, next(model.parameters()).device
    ordered = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    for first in range(0, len(ordered), ROWS):
        places = ordered[first : first + ROWS]
        tensors = [torch.from_numpy(rows[place]) for place in places]
        ids = nn.utils.rnn.pad_sequence(tensors, True, pad).to(device)
        padded = bool((ids == pad).any())
        yield places, tuple(encode_each(model, Rows(ids, ids, torch.full_like(ids, language), padded)))


def states_by_row(model: Any, rows: Sequence[np.ndarray], language: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each row's index and its states (L, ids, H), in order of length."""
    for places, hidden in states(model, rows, language):
        for number, place in enumerate(places):
            yield place, torch.stack([layer[number, : len(rows[place])] for layer in hidden])


def mean_states(hidden: Sequence[Tensor], first: int, sizes: Sequence[int]) -> Tensor:
    """Average the states of `sizes` (N,) ids in each row, from position `first`: (L, N, H)."""
    place = torch.arange(hidden[0].shape[1], device=hidden[0].device) - first
    inside = (place >= 0) & (place < torch.tensor(sizes, device=place.device)[:, None])  # (N, ids)
    counts = inside.sum(1, keepdim=True)
    return torch.stack([layer.masked_fill(~inside[:, :, None], 0.0).sum(1) / counts for layer in hidden])


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """Average each row's states at every layer, (L, N, H), without the special ids at both ends."""
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


@inference_mode
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """Return the index (N,) of the `target` row with the highest cosine to each `source` row, or NONE in case
    of a tie."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    blocks = []
    for rows in source.split(BLOCK):
        values, indices = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = (values[:, 0] == values[:, -1]) & (len(target) > 1)
        blocks.append(indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(blocks).cpu().numpy()


def mutually_nearest(forward: np.ndarray, backward: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each row and its partner, `pairing` (..., N), are nearest to each other, given the
    indices of nearest rows (N,) (MEXA, Kargaran et al. 2024, equation 1)."""
    return (forward == pairing) & (backward[pairing] == np.arange(len(forward)))


def cosine(source: Tensor, target: Tensor) -> Tensor:
    """The cosines (N, M) between rows, (N, H) and (M, H)."""
    return F.normalize(source, dim=1) @ F.normalize(target, dim=1).T


def found(scores: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows, and which columns, of `scores` (N, N) have a unique maximum on the diagonal."""
    diagonal, off_diagonal = scores.diagonal(), scores.clone().fill_diagonal_(-torch.inf)
    return (diagonal > off_diagonal.amax(1)).cpu().numpy(), (diagonal > off_diagonal.amax(0)).cpu().numpy()


def csls(cosines: Tensor) -> Tensor:
    """Correct cosines (N, M) for hubs (Conneau et al. 2018, equation 3)."""
    rows, columns = neighbourhoods(cosines, CSLS_NEIGHBOURS)
    return 2 * cosines - rows[:, None] - columns[None]


def neighbourhoods(cosines: Tensor, neighbours: int) -> list[Tensor]:
    """Return the mean of the `neighbours` largest cosines in each row, and in each column."""
    return [cosines.topk(min(neighbours, cosines.shape[dim]), dim=dim).values.mean(dim) for dim in (1, 0)]


def margin(source: Tensor, target: Tensor) -> Tensor:
    """Return the cosines (N, M) of rows, divided by the two rows' mean cosine with their neighbours."""
    cosines = cosine(source, target)
    rows, columns = neighbourhoods(cosines, MARGIN_NEIGHBOURS)
    return 2 * cosines / (rows[:, None] + columns[None])
