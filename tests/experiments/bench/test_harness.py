"""Benchmarks: sides take turns, and a record gives the same ratios again."""

import math
from pathlib import Path

import numpy as np
from scipy import stats

from calque.experiments.bench.harness import Comparison, read, write


def test_the_ratio_is_that_of_paired_rounds(tmp_path: Path) -> None:
    """A machine that slows both sides from round to round does not widen the interval; scipy's t interval of
    logs.
    """
    ours, theirs = (200.0, 110.0, 420.0, 90.0, 310.0), (100.0, 50.0, 200.0, 50.0, 150.0)
    logs = np.log(np.array(ours) / np.array(theirs))
    low, high = np.exp(stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs)))
    comparison = Comparison("a step", "another", "rows/s", ours, theirs)
    assert comparison.ratio == f"{math.exp(logs.mean()):.3g} [{low:.3g}, {high:.3g}]"
    write({"step": [comparison]}, {"date": "2026-11-27"}, tmp_path / "record.json")
    about, found = read(tmp_path / "record.json")
    assert found == {"step": [comparison]}
    assert about["date"] == "2026-11-27"
