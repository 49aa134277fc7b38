"""Linear CKA against a twin that compares similarity matrices, and the laws that its paper asks for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.vectors import linear_cka


def vectors(seed: int, items: int = 12, width: int = 5) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width)))


def by_similarities(x: np.ndarray, y: np.ndarray) -> float:
    """HSIC of the (N, N) similarity matrices by double sums (Kornblith et al. 2019, equations 2 to 4)."""
    n = len(x)

    def hsic(k: np.ndarray, m: np.ndarray) -> float:
        total = 0.0
        for i in range(n):
            for j in range(n):
                centred = k[i, j] - k[i].mean() - k[:, j].mean() + k.mean()
                total += centred * m[i, j]
        return total

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / (hsic(k, k) * hsic(m, m)) ** 0.5


@given(seed=st.integers(0, 999), width=st.integers(1, 8))
def test_it_is_the_cosine_of_centred_similarity_matrices(seed: int, width: int) -> None:
    x, y = vectors(seed), vectors(seed + 1, width=width)
    assert linear_cka(x, y) == pytest.approx(by_similarities(x.numpy(), y.numpy()), rel=1e-9)


@given(seed=st.integers(0, 999), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_rotation_scale_and_shift_change_nothing(seed: int, scale: float, shift: float) -> None:
    x, y = vectors(seed), vectors(seed + 1)
    rotation, _ = torch.linalg.qr(vectors(seed + 2, 5, 5))
    before = linear_cka(x, y)
    assert linear_cka(scale * x @ rotation + shift, y) == pytest.approx(before, rel=1e-6)
    assert linear_cka(y, x) == pytest.approx(before, rel=1e-9)
    assert linear_cka(x, scale * x @ rotation + shift) == pytest.approx(1, rel=1e-6)
    assert 0 <= before <= 1


def test_other_linear_maps_change_it() -> None:
    x, y = vectors(0), vectors(1)
    stretched = x * torch.tensor([10.0, 1, 1, 1, 1])
    assert abs(linear_cka(stretched, y) - linear_cka(x, y)) > 0.01


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(ValueError, match="12 items and 11"):
        linear_cka(vectors(0), vectors(1, items=11))
    with pytest.raises(ValueError, match="all vectors of a language are the same"):
        linear_cka(torch.ones(12, 5), vectors(1))
