"""Scores of links as probabilities, by a logistic function of their log odds (Platt 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.lazy import special

EDGE = 1e-6  # scores of 0 and 1 have no log odds


@dataclass(frozen=True)
class Calibration:
    """`intercept` + `slope` x log odds of a score are the log odds that another aligner finds its link too."""

    intercept: float
    slope: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities, of the shape of `scores`, which are from 0 to 1; NaN stays."""
        return np.asarray(special.expit(self.intercept + self.slope * special.logit(np.clip(scores, EDGE, 1 - EDGE))))

    @classmethod
    def fit(cls, scores: Sequence[float], found: Sequence[bool]) -> Self:
        """The maximum likelihood of `found`, with Platt's targets, which keep it finite where all links are found.

        >>> Calibration.fit([0.2, 0.2, 0.2, 0.8, 0.8, 0.8], [False] * 3 + [True] * 3)(np.array([0.2, 0.8])).round(1)
        array([0.2, 0.8])
        """
        from scipy.optimize import minimize

        odds, truth = special.logit(np.clip(scores, EDGE, 1 - EDGE)), np.array(found)
        targets = np.where(truth, (truth.sum() + 1) / (truth.sum() + 2), 1 / ((~truth).sum() + 2))

        def loss(line: np.ndarray) -> tuple[float, np.ndarray]:
            z = line[0] + line[1] * odds
            error = special.expit(z) - targets
            return float((np.logaddexp(0, z) - targets * z).mean()), np.array([error.mean(), (error * odds).mean()])

        intercept, slope = minimize(loss, np.array([0.0, 1.0]), jac=True, bounds=[(None, None), (0, None)]).x
        return cls(round(float(intercept), 3), round(float(slope), 3))

    @classmethod
    def read(cls, value: Any, path: Path) -> Self | None:
        """The calibration in a configuration, as its two numbers; None without one."""
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2 or not all(type(each) in (int, float) for each in value):
            raise BadInput(f"the calibration of links is {str(value)[:50]!r}; expected two numbers", path)
        return cls(*map(float, value))
