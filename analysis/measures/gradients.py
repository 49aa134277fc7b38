"""The cosine between two languages' gradients: whether an update that helps one language helps the other. It is taken
over the layers' parameters, which all languages share. It leaves out the embeddings, of which each script has its own
rows, and the prediction head, whose bias counts words. Shapes: U units, I inputs, P parts of a text, S shuffles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pretrain.architecture import architecture_of
from pretrain.batch import Rows
from pretrain.model import prediction_loss

PARTS = 8  # parts of a text, whose differences show the noise of its draw


def gradient_parts(model: Any, rows: Rows, parts: int = PARTS) -> list[list[Tensor]]:
    """The contribution of each of some nearly equal parts of `rows` to its `layer_gradients`."""
    return [layer_gradients(model, rows.part(i, parts), rows.labelled) for i in range(parts)]


def whole(parts: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """The gradients of a whole batch: the sum of its parts' gradients, parameter by parameter."""
    return [torch.stack(terms).sum(0) for terms in zip(*parts, strict=True)]


def layer_gradients(model: Any, rows: Rows, of: int | None = None) -> list[Tensor]:
    """The gradient of the MLM loss, a mean over the labelled ids of `rows`, by each parameter of the layers: (U, I). It
    is the sum over them by `of`, the labelled ids of a text, where these rows are a part of one. A bias, or the weight
    of a normalisation, is (U, 1). The model is used as it is: in evaluation mode without dropout."""
    of = rows.labelled if of is None else of
    if not of:
        raise ValueError("no id is asked for, so there is no gradient")
    parameters = list(architecture_of(model.config).layers(model).parameters())
    with torch.enable_grad():
        loss = prediction_loss(model, rows) / of
        gradients = torch.autograd.grad(loss, parameters)
    return [gradient.flatten(1) if gradient.ndim > 1 else gradient[:, None] for gradient in gradients]


def gradient_cosine(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    """The cosine of two gradients, each as one vector over all parameters."""
    return _product(first, second) / _norms(first, second)


def shuffled_cosines(first: Sequence[Tensor], second: Sequence[Tensor], shuffles: int, seed: int) -> np.ndarray:
    """The same with the units of each parameter of the second gradient shuffled, (S,). A unit's inputs stay together:
    the similarity of two gradients by their shape alone stays."""
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for a, b in zip(first, second, strict=True):
        of_units = (a.double() @ b.double().T).cpu().numpy()  # (U, U)
        here = np.arange(len(of_units))
        products += [of_units[here, random.permutation(len(here))].sum() for _ in range(shuffles)]
    return products / _norms(first, second)


def noise_cosines(
    first: Sequence[Sequence[Tensor]], second: Sequence[Sequence[Tensor]], shuffles: int, seed: int
) -> np.ndarray:
    """The noise of the cosine of two gradients from the draw of the texts alone, (S,), from the parts of either. The
    deviation of each part's contribution from the mean of all parts is added with a sign drawn for each part: other
    text of the same size would change the cosine as much."""
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
    sizes = [sum(float((g.double() ** 2).sum()) for g in gradient) ** 0.5 for gradient in (first, second)]
    if not all(sizes):
        raise ValueError("a gradient is 0 everywhere: it has no direction")
    return sizes[0] * sizes[1]
