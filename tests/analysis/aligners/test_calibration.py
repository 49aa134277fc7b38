"""Calibration against the process that made the scores, and against scikit-learn's logistic regression."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calque.analysis.aligners.calibration import EDGE, Calibration


def test_it_finds_the_line_that_made_the_links_and_the_references() -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(0.05, 0.95, 20_000)
    right = random.random(len(scores)) < expit(0.7 + 1.2 * logit(scores))
    fitted = Calibration.fit(scores.tolist(), right.tolist())
    assert (fitted.intercept, fitted.slope) == pytest.approx((0.7, 1.2), abs=0.05)
    reference = LogisticRegression(C=np.inf, tol=1e-8).fit(logit(scores)[:, None], right)
    # Platt's targets differ from 0 and 1 by one in ten thousand here
    assert (fitted.intercept, fitted.slope) == pytest.approx((reference.intercept_[0], reference.coef_[0, 0]), abs=0.01)
    assert fitted(scores).mean() == pytest.approx(right.mean(), abs=0.01)


def test_order_stays_and_all_are_probabilities() -> None:
    some = Calibration.fit([0.4, 0.5, 0.9, 1.0], [True] * 4)
    scores = np.array([0.0, EDGE / 2, 0.4, 0.7, 1.0, np.nan])
    found = some(scores)
    assert (np.diff(found[:-1]) >= 0).all() and ((found[:-1] > 0) & (found[:-1] < 1)).all() and np.isnan(found[-1])
    against = Calibration.fit([0.2, 0.3, 0.8, 0.9], [True, True, False, False])
    assert against.slope == 0
    assert Calibration(0, 1)(scores[2:5]) == pytest.approx(np.clip(scores[2:5], EDGE, 1 - EDGE))
