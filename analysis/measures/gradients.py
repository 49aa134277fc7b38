"""The cosine between two languages' gradients: whether what helps one language helps the other.

It is taken over the layers' parameters, which all languages share. The embeddings, of which each script has its own
rows, and the prediction head, whose bias counts words, have no part in it. Shapes: U units, I inputs, S shuffles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pretrain.architecture import architecture_of
from pretrain.batch import Rows
from pretrain.model import prediction_loss


def layer_gradients(model: Any, rows: Rows) -> list[Tensor]:
    """The gradient of the MLM loss, a mean over the labelled ids of `rows`, by each parameter of the layers: (U, I).

    A bias, or the weight of a normalisation, is (U, 1). The model is used as it is: in evaluation mode without dropout.

    Raises:
        ValueError: no id has a label.
    """
    if not rows.labelled:
        raise ValueError("no id is asked for, so there is no gradient")
    parameters = list(architecture_of(model.config).layers(model).parameters())
    with torch.enable_grad():
        loss = prediction_loss(model, rows) / rows.labelled
        gradients = torch.autograd.grad(loss, parameters)
    return [gradient.flatten(1) if gradient.ndim > 1 else gradient[:, None] for gradient in gradients]


def gradient_cosine(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    """The cosine of two gradients, each as one vector over all parameters.

    Raises:
        ValueError: a gradient is 0 everywhere.
    """
    product = sum(float((a.double() * b.double()).sum()) for a, b in zip(first, second, strict=True))
    return product / _norms(first, second)


def shuffled_cosines(first: Sequence[Tensor], second: Sequence[Tensor], shuffles: int, seed: int) -> np.ndarray:
    """The same with the units of each parameter of the second gradient shuffled, (S,).

    A unit's inputs stay together: what gradients of two languages have in common by their shape alone stays.

    Raises:
        ValueError: as `gradient_cosine`.
    """
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for a, b in zip(first, second, strict=True):
        of_units = (a.double() @ b.double().T).cpu().numpy()  # (U, U)
        here = np.arange(len(of_units))
        products += [of_units[here, random.permutation(len(here))].sum() for _ in range(shuffles)]
    return products / _norms(first, second)


def _norms(first: Sequence[Tensor], second: Sequence[Tensor]) -> float:
    sizes = [sum(float((g.double() ** 2).sum()) for g in gradient) ** 0.5 for gradient in (first, second)]
    if not all(sizes):
        raise ValueError("a gradient is 0 everywhere: it has no direction")
    return sizes[0] * sizes[1]
