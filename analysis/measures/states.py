"""Compute hidden states, and find vectors' nearest neighbours in another language. Shapes: N and M rows or
vectors, L layers including the embeddings, H hidden."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from calque.analysis.aligners.encoder import hidden_states, row_states
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.pretrain.architecture import architecture_of, has_languages
from calque.pretrain.lazy import F, Tensor, inference_mode, torch
from calque.pretrain.saved_model import WEIGHTS, load_model, read_config

NONE = -1  # replaces the nearest row's index in case of a tie
BLOCK = 512
CSLS_NEIGHBOURS = 10  # as in MUSE (Conneau et al. 2018)
MARGIN_NEIGHBOURS = 4  # as in Artetxe and Schwenk 2019


def model_with_head(model: MeasuredModel) -> Any:
    """Load a masked language model. Raises BadInput if its prediction head is missing."""
    spelt = architecture_of(read_config(model.checkpoint))
    network: Any
    network, missing = load_model(model.checkpoint, spelt.masked_model)
    if headless := [name for name in missing if name.startswith(f"{spelt.head}.")]:
        what = f"the model has no prediction head ({headless[0]} is missing)"
        raise BadInput(f"{what}, so its loss and gradients cannot be measured", model.checkpoint / WEIGHTS)
    return network.to(model.device).eval()


def states(model: Any, rows: Sequence[np.ndarray], language: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each row's index and hidden states (L, ids, H), in order of length."""
    encoder, typed = architecture_of(model.config).encoder(model), has_languages(model.config.type_vocab_size)

    def encode(chosen: list[int]) -> Sequence[Tensor]:
        batch = [rows[row].tolist() for row in chosen]
        types = [[language] * len(row) for row in batch] if typed else None
        return hidden_states(encoder, batch, types)

    return row_states(encode, list(map(len, rows)))


def row_means(states: Iterable[tuple[int, Tensor]], before: int = 1, after: int = 1) -> Tensor:
    """Average each row's states, (L, N, H), without the special ids at both ends."""
    means = {row: hidden[:, before : hidden.shape[1] - after].mean(1) for row, hidden in states}
    return torch.stack([means[row] for row in range(len(means))], dim=1)


def sentence_means(model: Any, rows: Sequence[np.ndarray], language: int) -> Tensor:
    """Average each row's states at every layer, (L, N, H), without the special ids at both ends."""
    return row_means(states(model, rows, language))


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


def mutually_nearest(forward: np.ndarray, back: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each row and its partner, `pairing` (..., N), are nearest to each other, given the
    indices of nearest rows (N,) (MEXA, Kargaran et al. 2024, equation 1)."""
    return (forward == pairing) & (back[pairing] == np.arange(len(forward)))


def cosine(source: Tensor, target: Tensor) -> Tensor:
    """The cosines (N, M) between rows, (N, H) and (M, H)."""
    return F.normalize(source, dim=1) @ F.normalize(target, dim=1).T


def found(scores: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows, and which columns, of `scores` (N, N) have a unique maximum on the diagonal."""
    own, others = scores.diagonal(), scores.clone().fill_diagonal_(-torch.inf)
    return (own > others.amax(1)).cpu().numpy(), (own > others.amax(0)).cpu().numpy()


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
