"""Compute hidden states, and compare two languages' vectors. Shapes: N rows, L layers including the
embeddings, H hidden, T types, K width, S shuffles, C labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.analysis.measures.nulls import like_frequent, shuffled
from calque.analysis.records.record import MeasuredModel
from calque.derive.errors import BadInput
from calque.pretrain.architecture import architecture_of, has_languages
from calque.pretrain.lazy import F, Tensor, inference_mode, nn, torch
from calque.pretrain.saved_model import WEIGHTS, load_model, read_config

NONE = -1  # replaces the nearest row's index in case of a tie
BLOCK = 512
ROWS = 128  # rows of similar length per batch; affects only rounding
RIDGE = 1.0  # ridge penalty, for standardised features and squared errors summed over words


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
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """Return the index (N,) of the row of `target` with the highest cosine to each row of `source` (N, H);
    NONE for ties."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    blocks = []
    for rows in source.split(BLOCK):
        values, indices = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = (values[:, 0] == values[:, -1]) & (len(target) > 1)
        blocks.append(indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(blocks).cpu().numpy()


def mutually_nearest(forward: np.ndarray, back: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each pair's cosine exceeds every other cosine of either member (MEXA, Kargaran et al.
    2024, equation 1). `forward` and `back` (N,) are indices of nearest rows, and `pairing` (..., N) is each
    row's partner."""
    return (forward == pairing) & (back[pairing] == np.arange(len(forward)))


def linear_cka(x: Tensor, y: Tensor) -> float:
    """Return the linear CKA of `x` (N, H) and `y` (N, K) (Kornblith et al. 2019, section 3)."""
    a, b = (side.double() - side.double().mean(0) for side in (x, y))
    norm = torch.linalg.matrix_norm(a.T @ a) * torch.linalg.matrix_norm(b.T @ b)
    if not norm > 0:
        raise ValueError("all vectors in one language are identical, so CKA is undefined")
    return float(torch.linalg.matrix_norm(b.T @ a) ** 2 / norm)


def linear_probe(vectors: Tensor, labels: np.ndarray, ridge: float = RIDGE) -> Callable[[Tensor], Tensor]:
    """Fit a ridge regression on standardised vectors (N, H), and return a function from vectors (M, H) to
    label scores (M, C)."""
    if len(set(labels.tolist())) < 2:
        raise ValueError("all words have the same label, but a probe needs at least two")
    x = vectors.double()
    mean, scale = x.mean(0), x.std(0, correction=0).clamp_min(1e-6)

    def features(vectors: Tensor) -> Tensor:
        return F.pad((vectors.double() - mean) / scale, (0, 1), value=1.0)

    design, targets = features(x), F.one_hot(torch.from_numpy(labels).to(x.device)).double()
    penalty = ridge * torch.eye(design.shape[1], dtype=torch.float64, device=x.device)
    penalty[-1, -1] = 0.0
    weights = torch.linalg.lstsq(design.T @ design + penalty, design.T @ targets).solution
    return lambda others: features(others) @ weights


@dataclass(frozen=True)
class TypeMeans:
    """Each type's mean state at each layer (L, T, H), its share of the tokens in each sentence (N, T), and
    its frequency (T,)."""

    means: Tensor
    shares: Tensor
    counts: np.ndarray

    def exchanged_ckas(self, x: Tensor, y: Tensor, layer: int, shuffles: int, seed: int) -> np.ndarray:
        """Return the linear CKA of `x` (N, K) and `y` (N, H), (S,), after exchanging the mean states of
        similarly frequent types in `y`."""
        exchanges = torch.from_numpy(shuffled(like_frequent(self.counts), shuffles, seed)).to(y.device)
        means = self.means[layer]
        return np.array(
            [linear_cka(x, y + self.shares @ (means[exchange] - means)) for exchange in exchanges]
        )


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
    means, order = [], []
    for places, hidden in states(model, rows, language):
        means.append(mean_states(hidden, 1, [len(rows[place]) - 2 for place in places]))
        order += places
    return torch.cat(means, dim=1)[:, torch.tensor(order).argsort().to(means[0].device)]


def type_means(model: Any, rows: Sequence[np.ndarray], language: int) -> TypeMeans:
    """Return the mean state of each type in the rows and its share of each row, excluding special ids."""
    types, inside = np.unique(np.concatenate([row[1:-1] for row in rows]), return_inverse=True)
    lengths = np.array([len(row) - 2 for row in rows])
    of = np.split(inside, np.cumsum(lengths)[:-1])
    counted, shares = np.bincount(inside), np.zeros((len(rows), len(types)), np.float32)
    np.add.at(shares, (np.repeat(np.arange(len(rows)), lengths), inside), 1 / np.repeat(lengths, lengths))
    sums: list[Tensor] = []
    for places, hidden in states(model, rows, language):
        sums = sums or [layer.new_zeros(len(types), layer.shape[2]) for layer in hidden]
        here = torch.from_numpy(np.concatenate([of[place] for place in places])).to(hidden[0].device)
        for total, layer in zip(sums, hidden, strict=True):
            total.index_add_(0, here, torch.cat([layer[i, 1 : 1 + lengths[p]] for i, p in enumerate(places)]))
    means = torch.stack(sums) / torch.from_numpy(counted).to(sums[0].device)[:, None]
    return TypeMeans(means, torch.from_numpy(shares).to(means.device), counted)
