"""The baselines of a task whose examples are pairs of texts with a label."""

from __future__ import annotations

from analysis.baselines.bag_of_words import BagOfWords
from analysis.baselines.baseline import Baseline
from analysis.baselines.majority import MajorityLabel
from analysis.baselines.shallow import Shallow


def pair_baselines(first: str, second: str) -> tuple[Baseline, ...]:
    """Majority, each text alone, by what it is called (`hypothesis-only`), and shallow features of both."""
    alone = (BagOfWords(place, f"{text}-only", f"{text} only") for place, text in ((1, second), (0, first)))
    return (MajorityLabel(), *alone, Shallow())
