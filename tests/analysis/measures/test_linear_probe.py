"""The linear probe against the normal equations, and what it can learn."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.measures.vectors import LinearProbe


def test_it_solves_the_normal_equations() -> None:
    random = np.random.default_rng(0)
    x, labels = random.normal(size=(50, 4)) * 3 + 1, random.integers(0, 3, 50)
    probe = LinearProbe.fitted(torch.from_numpy(x), labels, ridge=2.0)
    z = np.hstack([(x - x.mean(0)) / x.std(0), np.ones((50, 1))])
    expected = np.linalg.inv(z.T @ z + np.diag([2.0, 2, 2, 2, 0])) @ z.T @ np.eye(3)[labels]
    assert probe.weights.numpy() == pytest.approx(expected)
    assert np.array_equal(probe(torch.from_numpy(x)), (z @ expected).argmax(1))


def test_it_tells_what_a_plane_parts_and_nothing_else() -> None:
    x = torch.randn(400, 6, generator=torch.Generator().manual_seed(0))
    plane, corners = (x[:, 0] > 0).numpy().astype(int), ((x[:, 0] > 0) ^ (x[:, 1] > 0)).numpy().astype(int)
    right = [float((LinearProbe.fitted(x[:200], y[:200])(x[200:]) == y[200:]).mean()) for y in (plane, corners)]
    assert right[0] > 0.93
    assert right[1] < 0.65


def test_one_label_is_nothing_to_tell_apart() -> None:
    with pytest.raises(ValueError, match="two labels"):
        LinearProbe.fitted(torch.randn(5, 2), np.zeros(5, int))
