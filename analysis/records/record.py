"""Records: one JSON row for each number that was measured or that a paper printed, and what measures take and give."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from calque.derive.readers.conllu import WORDS, XTREME

_RUN = re.compile(r"(\d{1,15})(?:\*([1-9]\d{0,8}))?", re.ASCII)
MOST_ITEMS = 10_000_000  # items of a test set at most: a run of a few letters could otherwise fill all memory


@dataclass(frozen=True)
class Items:
    """A ratio, item by item, so that two models can be compared on the same examples: the number is the sum of `hits`
    over the sum of `of`. An item is what is drawn independently of the others: a sentence for tags and entities, an
    example for NLI. Accuracy over words has the right words of each sentence over its words; F1 twice the right
    entities over the predicted and the gold ones; an error rate of links is one minus such a ratio. On disk both are
    runs of whole numbers: `3 4*2` is 3, 4, 4. Others are refused with a ValueError."""

    hits: str
    of: str

    def __post_init__(self) -> None:
        hits, of = (sum(times for _, times in _runs(text)) for text in (self.hits, self.of))
        if hits != of:
            raise ValueError(f"hits of {hits} items, of {of}")
        if of > MOST_ITEMS:
            raise ValueError(f"{of:,} items; expected at most {MOST_ITEMS:,}")

    @property
    def ratio(self) -> float | None:
        """The number; None where there is nothing that it could be the ratio of."""
        hits, of = (sum(number * times for number, times in _runs(text)) for text in (self.hits, self.of))
        return hits / of if of else None

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int]) -> Items:
        """Items from whole numbers of 0 or more; as many `hits` as `of`."""
        hits, of = [int(n) for n in hits], [int(n) for n in of]
        if min((*hits, *of), default=0) < 0:
            raise ValueError("items are numbers of 0 or more")
        return cls(_written(hits), _written(of))

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """Hits, and what they are out of, one entry per item."""
        hits, of = ([number for number, times in _runs(text) for _ in range(times)] for text in (self.hits, self.of))
        return hits, of


def _written(numbers: Sequence[int]) -> str:
    runs = ((number, len(list(run))) for number, run in groupby(numbers))
    return " ".join(f"{number}*{times}" if times > 1 else str(number) for number, times in runs)


@lru_cache(maxsize=1 << 16)
def _runs(text: str) -> tuple[tuple[int, int], ...]:
    """Each number, and how many times it is there; remembered, since tables and claims read records again and again."""
    runs = []
    for run in text.split():
        matched = _RUN.fullmatch(run)
        if not matched:
            raise ValueError(f"items are whole numbers, as in '3 4*2', not {run[:80]!r}")
        runs.append((int(matched[1]), int(matched[2] or 1)))
    return tuple(runs)


@dataclass(frozen=True)
class Null:
    """The chance level of a number, and its null distribution. `chance` is the number of who guesses, in the number's
    own unit. `low` and `high` are the 2.5th and the 97.5th percentile of `shuffles` values that were measured after
    what belongs together had been shuffled."""

    chance: float
    low: float
    high: float
    shuffles: int

    def left(self, value: float, side: int = 1) -> bool:
        """Whether a value lies beyond both: above the band and chance (`side` +1), or below them (-1)."""
        return value > max(self.high, self.chance) if side > 0 else value < min(self.low, self.chance)


@dataclass(frozen=True)
class LinkCounts:
    """The counts behind AER, precision, recall and F1, over `pairs` sentence pairs. Of the predicted links A, the sure
    gold links S and the possible ones P, which hold S: `predicted` is |A|, `sure` |S|, `found_sure` |A and S|,
    `found_possible` |A and P|. Counts add up, and the rates of their sum are the micro-average. A rate is None where
    its denominator is 0: there is nothing to be right or wrong about."""

    pairs: int = 0
    predicted: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def aer(self) -> float | None:
        """1 - (|A and S| + |A and P|) / (|A| + |S|)."""
        rate = _share(self.found_sure + self.found_possible, self.predicted + self.sure)
        return None if rate is None else 1 - rate

    @property
    def precision(self) -> float | None:
        """|A and P| / |A|."""
        return _share(self.found_possible, self.predicted)

    @property
    def recall(self) -> float | None:
        """|A and S| / |S|."""
        return _share(self.found_sure, self.sure)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 0 where both are."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


RECORDS, FLOORS = "records.jsonl", "floors.jsonl"  # the files of a folder that hold its records and its floors
# Measures, other than the scores SUP, ZS, SRC, DEV and CUT of `analysis.tasks.transfer`:
ALIGNMENT = "alignment"  # alignment@1
ORDER = "order distance"  # how far a derived language's word order is from its source's
AER = "AER"  # alignment error rate of word links against gold ones
RETRIEVAL = "retrieval"  # sentences whose translation is the nearest of all
LABELS = "self-labels"  # the links that XLM-Align labels itself with during pretraining, against the gold alignment
HELD_OUT = "held-out loss"  # nats per masked id of text that no model has read
CKA = "CKA"  # linear CKA of sentences in two languages
GRADIENTS = "gradient cosine"  # whether two languages pull the layers' weights the same way
LINEAR = "linear probe"  # a probe on frozen vectors of one language, tested in another
SHARING = "sharing"  # the part of a derived language that is its source's own
DELTA = "DELTA"  # the loss in transfer: SUP - ZS
READ = "read"  # how much of a language a model has read
TRANSLATED, SWITCHED = "TT", "TT-CS"
"""Measures of translate-train: fine-tuned on the source's examples and their translations, or also on pairs whose texts
are in both languages (code-switched), and tested in the derived language."""
IN_SOURCE = "-SRC"  # the end of a measure of translate-train where the test set is the source's
KNOWN, CARRIED, BOTH = "facts known", "facts carried", "facts stated in both"
"""Measures of questions about facts: asked in the source, which alone states them; asked in the derived language then;
and asked there where both languages state them."""
MEASURES = {ALIGNMENT, ORDER, AER, RETRIEVAL, LABELS, HELD_OUT, CKA, GRADIENTS, LINEAR, SHARING, READ}
MEASURES |= {KNOWN, CARRIED, BOTH}  # all measures of the package that are not scores of tasks
# Metrics:
MINED, MINED_XTREME = "mined", "mined-xtreme"
"""Of retrieval, F1 of mining translations; the latter by the candidates and the threshold of XTREME's BUCC."""
FORM, LEMMA = "held-out-form", "held-out-lemma"
"""Of alignment@1 of held-out inflected words: the dictionary has another form of the word, or none."""
# The bounds of numbers that are not shares:
LIMITS = {HELD_OUT: (0.0, math.inf), READ: (0.0, math.inf), DELTA: (-1.0, 1.0), GRADIENTS: (-1.0, 1.0)}
ROUNDED = 1e-6  # the error that computing may add to a number at its limit


@dataclass(frozen=True)
class Record:
    """One number, the run that it is of, by its id, and everything that a run has several of (docs/records.md).

    `value` is a ratio from 0 to 1, never percent (DELTA and cosines: from -1 to 1; a held-out loss is in nats, text
    read in ids), and `count` the number of items behind it. `step` is the step of pretraining (0 where it does not
    apply).

    A number of an ordered pair of two languages has the second as `language` and the other as `first`, empty where that
    is the source: alignment@1 looks for `first`'s types among `language`'s, retrieval for its sentences, and ZS is
    fine-tuned on `first` and tested on `language`. `first` of a probe's number about the source is the language that
    was learnt next to it. `items` are the test items that the value is the ratio of, and `null` its null distribution.
    """

    run: str
    measure: str
    metric: str
    value: float
    count: int
    language: str = ""
    task: str = ""
    split: str = ""
    layer: int | None = None
    joint: bool = False
    step: int = 0
    aligner: str = ""
    symmetrisation: str = ""
    gold_set: str = ""
    links: LinkCounts | None = None
    items: Items | None = None
    first: str = ""
    null: Null | None = None
    examples: int = 0
    units: str = WORDS

    def check(self) -> None:
        """Refuse with a ValueError a number that no measurement gives, so that somebody wrote it."""
        low, high = LIMITS.get(self.measure, (0.0, 1.0))
        if not low - ROUNDED <= self.value <= high + ROUNDED:
            raise ValueError(f"value should be from {low:g} to {high:g} of {self.measure}: {self.value}")
        for name in ("count", "examples"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} should be 0 or more: {getattr(self, name)}")
        if self.null and (self.null.shuffles < 1 or self.null.low > self.null.high):
            raise ValueError(f"null should be of shuffles whose low end is not above the high one: {self.null}")
        if self.units not in (WORDS, XTREME):
            raise ValueError(f"units should be {WORDS} or {XTREME}: {self.units!r}")
        if self.items is not None:
            if (ratio := self.items.ratio) is None:
                raise ValueError("items should be out of something, and not of 0")
            of_items = 1 - ratio if self.measure == AER else ratio
            if not math.isclose(self.value, of_items, abs_tol=ROUNDED):
                raise ValueError(f"value should be that of its items, {of_items}: {self.value}")


@dataclass(frozen=True)
class Published:
    """One number that a paper prints, as a share from 0 to 1. `setting` is empty for the paper's default setup, else
    what was varied, as "parallel 1%". `title` is what people call the transform, and `language` that of the test set
    where a table has several of a setting."""

    paper: str
    table: int
    objective: str
    transform: str
    measure: str
    task: str
    metric: str
    value: float
    setting: str = ""
    title: str = ""
    language: str = ""


@dataclass(frozen=True)
class Floor:
    """One number of a baseline, which has no seed and is of no run. `baseline` was learnt from the training examples of
    the language `learnt` and scored on the test examples of `language`: those that models of the study are fine-tuned
    and scored on. `title` is its name for people. A `surface` one looks at how texts are alike, whatever words they
    have. The rest is as in `Record`."""

    baseline: str
    title: str
    task: str
    metric: str
    value: float
    count: int
    language: str
    learnt: str
    surface: bool = False
    items: Items | None = None


@dataclass(frozen=True)
class MeasuredModel:
    """A checkpoint to measure, and what its records say about it. `run` is its id in records and `language` the derived
    language that its numbers are about, if there is one. `seed` belongs to the run and its fine-tuning, and `step` is
    the step of pretraining. `device` is torch's name of it."""

    checkpoint: Path
    run: str
    language: str = ""
    seed: int = 0
    step: int = 0
    device: str = "cpu"

    def record(self, measure: str, metric: str, value: float, count: int, **fields: Any) -> Record:
        """A number of this model; `fields` are further ones of its record, or replace those of the model."""
        about = {"language": self.language, "step": self.step, **fields}
        return Record(self.run, measure, metric, value, count, **about)


@dataclass(frozen=True)
class Measurement:
    """Records, and counts of what was excluded, by reason; text `files` by name, and `facts` for the manifest."""

    records: tuple[Record, ...] = ()
    exclusions: Counter[str] = field(default_factory=Counter)
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
