"""Measure the loss on masked ids, and the cosine between two languages' gradients of that loss with respect
to the layers' weights. Shapes: N masked ids, S shuffles, V types, U units, I inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calque.pretrain.architecture import architecture_of
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.lazy import Tensor, inference_mode, torch
from calque.pretrain.model import encode, prediction_loss

MOST = 2048  # maximum number of masked ids used
PARTS = 8  # number of parts into which a text is split to estimate sampling noise


def masked_only(rows: Rows, mask: int) -> Rows:
    """Remove the labels at positions where the input is not `mask`."""
    labels = rows.labels.masked_fill(rows.ids != mask, UNLABELLED)
    return Rows(rows.ids, labels, rows.languages, rows.padded, rows.places)


@inference_mode
def masked_loss(model: Any, rows: Rows, shuffles: int, seed: int) -> tuple[float, int, np.ndarray]:
    """Return the mean loss in nats over N masked ids, N, and the mean losses (S,) after shuffling the correct
    ids."""
    spelt, at = architecture_of(model.config), rows.positions.at[:MOST]
    labels = rows.labels.flatten()[at]
    top = encode(model, rows, len(spelt.layers(model))).flatten(0, 1)[at]
    logits = (spelt.logits(model, part).float() for part in top.split(256))
    losses = torch.cat([-part.log_softmax(1)[:, labels] for part in logits])
    table = losses.double().cpu().numpy()  # (N, N): the loss at each position for each id
    here, random = np.arange(len(at)), np.random.default_rng(seed)
    shuffled = [table[here, random.permutation(here)].mean() for _ in range(shuffles)]
    return float(table.diagonal().mean()), len(at), np.array(shuffled)


def unigram_loss(labels: np.ndarray, counts: np.ndarray) -> float:
    """Return the mean loss in nats when predicting `labels` (N,) from add-one smoothed `counts` (V,)."""
    return float(-np.log((counts[labels] + 1) / (counts.sum() + len(counts))).mean())


def gradient_parts(model: Any, rows: Rows) -> list[list[Tensor]]:
    """Split the rows into PARTS parts, and return each part's contribution to the gradients."""
    return [layer_gradients(model, rows.part(i, PARTS), rows.labelled) for i in range(PARTS)]


def whole(parts: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Sum gradients over parts, for each parameter."""
    return [torch.stack(terms).sum(0) for terms in zip(*parts, strict=True)]


def layer_gradients(model: Any, rows: Rows, of: int | None = None) -> list[Tensor]:
    """Return the gradient of the MLM loss, summed over `rows` and divided by `of` (default: the number of
    labelled ids), for each parameter of the layers: (U, I), or (U, 1) for vectors."""
    of = rows.labelled if of is None else of
    parameters = list(architecture_of(model.config).layers(model).parameters())
    with torch.enable_grad():
        loss = prediction_loss(model, rows) / of
        gradients = torch.autograd.grad(loss, parameters)
    return [gradient.flatten(1) if gradient.ndim > 1 else gradient[:, None] for gradient in gradients]


def gradient_cosine(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    """Return the cosine between two gradients over all parameters together."""
    return _product(first, second) / _norms(first, second)


def shuffled_cosines(
    first: Sequence[Tensor], second: Sequence[Tensor], shuffles: int, seed: int
) -> np.ndarray:
    """Return the cosines (S,) after shuffling the units of each parameter in the second gradient."""
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for a, b in zip(first, second, strict=True):
        of_units = (a.double() @ b.double().T).cpu().numpy()  # (U, U)
        here = np.arange(len(of_units))
        products += [of_units[here, random.permutation(len(here))].sum() for _ in range(shuffles)]
    return products / _norms(first, second)


def noise_cosines(
    first: Sequence[Sequence[Tensor]], second: Sequence[Sequence[Tensor]], shuffles: int, seed: int
) -> np.ndarray:
    """Sample the noise (S,) in the cosine by giving each part's deviation from the mean a random sign."""
    sides = whole(first), whole(second)
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for parts, other in ((first, sides[1]), (second, sides[0])):
        terms = np.array([_product(part, other) for part in parts])
        deviations = (terms - terms.mean()) * np.sqrt(len(terms) / (len(terms) - 1))
        products += random.choice((-1.0, 1.0), (shuffles, len(terms))) @ deviations
    return products / _norms(*sides)


def _product(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    return sum(float((a.double() * b.double()).sum()) for a, b in zip(first, second, strict=True))


def _norms(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    sizes = [_product(gradient, gradient) ** 0.5 for gradient in (first, second)]
    if not all(sizes):
        raise ValueError("a gradient is 0 everywhere, so its cosine is undefined")
    return sizes[0] * sizes[1]
