"""Records: one JSON row per number, measured or published, and the input and output of measures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache
from itertools import chain, groupby, repeat, starmap
from pathlib import Path
from typing import Any

from calque.derive.readers.conllu import WORDS, XTREME

_RUN = re.compile(r"(\d{1,15})(?:\*([1-9]\d{0,8}))?", re.ASCII)
MOST_ITEMS = 10_000_000  # maximum size of a test set: a short string could otherwise exhaust memory


@dataclass(frozen=True)
class Items:
    """A ratio, item by item, so that two models can be compared on the same examples: the sum of `hits` over
    the sum of `of`, with one number each per independent item, such as a sentence. Both are strings of whole
    numbers with repetitions: `3 4*2` is 3, 4, 4. Raises ValueError for anything else."""

    hits: str
    of: str

    def __post_init__(self) -> None:
        hits, of = (sum(times for _, times in _runs(text)) for text in (self.hits, self.of))
        if hits != of:
            raise ValueError(f"`hits` lists {hits} items, and `of` {of}")
        if of > MOST_ITEMS:
            raise ValueError(f"{of:,} items; expected at most {MOST_ITEMS:,}")

    @property
    def ratio(self) -> float | None:
        """The ratio; None if its denominator is 0."""
        hits, of = (sum(number * times for number, times in _runs(text)) for text in (self.hits, self.of))
        return hits / of if of else None

    @classmethod
    def over(cls, hits: Iterable[int], of: Iterable[int]) -> Items:
        """Build items from whole numbers of 0 or more, one of each per item."""
        hits, of = [int(n) for n in hits], [int(n) for n in of]
        if any(n < 0 for n in (*hits, *of)):
            raise ValueError("items should be numbers of 0 or more")
        return cls(_written(hits), _written(of))

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        """`hits` and `of` as numbers, one of each per item."""
        hits, of = (list(chain.from_iterable(starmap(repeat, _runs(text)))) for text in (self.hits, self.of))
        return hits, of


def _written(numbers: Sequence[int]) -> str:
    runs = ((number, len(list(run))) for number, run in groupby(numbers))
    return " ".join(f"{number}*{times}" if times > 1 else str(number) for number, times in runs)


@lru_cache(maxsize=1 << 16)
def _runs(text: str) -> tuple[tuple[int, int], ...]:
    runs = []
    for run in text.split():
        if not (matched := _RUN.fullmatch(run)):
            raise ValueError(f"items should be whole numbers, as in '3 4*2', not {run[:80]!r}")
        runs.append((int(matched[1]), int(matched[2] or 1)))
    return tuple(runs)


@dataclass(frozen=True)
class Null:
    """The number expected by chance, and the 2.5th and 97.5th percentiles of the values after `shuffles`
    shuffles."""

    chance: float
    low: float
    high: float
    shuffles: int

    def left(self, value: float, side: int = 1) -> bool:
        """Whether a value is above both the band and chance (`side` +1), or below both (-1)."""
        return value > max(self.high, self.chance) if side > 0 else value < min(self.low, self.chance)


@dataclass(frozen=True)
class LinkCounts:
    """Counts over `pairs` sentence pairs of the predicted links A, the sure gold links S and the possible
    ones P, which include S: |A|, |S|, |A and S| and |A and P|. Summed counts give micro-averages. A rate is
    None if its denominator is 0."""

    pairs: int = 0
    predicted: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: LinkCounts) -> LinkCounts:
        return LinkCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def aer(self) -> float | None:
        """The alignment error rate (Och and Ney 2003)."""
        rate = _share(self.found_sure + self.found_possible, self.predicted + self.sure)
        return None if rate is None else 1 - rate

    @property
    def precision(self) -> float | None:
        """The share of predicted links that are possible gold links."""
        return _share(self.found_possible, self.predicted)

    @property
    def recall(self) -> float | None:
        """The share of sure gold links that are predicted."""
        return _share(self.found_sure, self.sure)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 0 if both are 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


RECORDS, FLOORS = "records.jsonl", "floors.jsonl"
# Measures besides the scores SUP, ZS, SRC, DEV and CUT in `analysis.tasks.transfer`:
ALIGNMENT = "alignment"  # alignment@1
ORDER = "order distance"  # between a derived language's word order and its source's
AER = "AER"  # alignment error rate against gold links
FAST_ALIGN, DIAGONAL = "fast_align", "diagonal"  # aligners without an encoder
RETRIEVAL = "retrieval"  # share of sentences whose nearest sentence is their translation
LABELS = "self-labels"  # XLM-Align's self-labels during pretraining, against the gold alignment
HELD_OUT = "held-out loss"  # nats per masked id in held-out text
CKA = "CKA"  # linear CKA between sentences in two languages
GRADIENTS = "gradient cosine"  # between two languages' gradients with respect to the layers' weights
LINEAR = "linear probe"  # trained on one language's frozen vectors, tested on another's
SHARING = "sharing"  # what a derived language shares with its source
DELTA = "DELTA"  # the loss in transfer: SUP - ZS
RECOVERED = "recovered"  # the part of that loss that an intervention at test time recovers
READ = "read"  # how much of a language a model was trained on
KNOWN, CARRIED, BOTH = "facts known", "facts carried", "facts stated in both"
"""Measures of questions about facts: stated and queried in the source; stated in the source and queried in
the derived language; stated in both and queried in the derived language."""
MEASURES = {
    ALIGNMENT,
    ORDER,
    AER,
    RETRIEVAL,
    LABELS,
    HELD_OUT,
    CKA,
    GRADIENTS,
    LINEAR,
    SHARING,
    READ,
    RECOVERED,
}
MEASURES |= {KNOWN, CARRIED, BOTH}  # all of the package's measures except task scores
# Metrics:
MINED, MINED_XTREME = "mined", "mined-xtreme"
"""Retrieval: F1 in mining translations, the latter with XTREME's candidates and threshold for BUCC."""
FORM, LEMMA = "held-out-form", "held-out-lemma"
"""alignment@1 of held-out inflected words, with another form of the word in the dictionary, or without."""
ROTATED, SHUFFLED, SELF_LEARNT = "held-out-rotated", "held-out-shuffled", "held-out-self-learnt"
"""alignment@1 of held-out types after one rotation, fitted on the dictionary's pairs, on shuffled pairs, or
by self-learning."""
ENTRY, NO_ENTRY = "entry", "no-entry"
"""ZS and SUP: accuracy over words that are one type, with and without an entry in the dictionary."""
AFTER = " after "  # joins a metric to the preceding intervention, as in `accuracy after rotation`
# Bounds of numbers that are not shares:
LIMITS = {
    HELD_OUT: (0.0, math.inf),
    READ: (0.0, math.inf),
    DELTA: (-1.0, 1.0),
    GRADIENTS: (-1.0, 1.0),
    RECOVERED: (-2.0, 2.0),
}
ROUNDED = 1e-6  # rounding error allowed at a limit


@dataclass(frozen=True)
class Record:
    """One number, its run's id, and everything that varies within a run (docs/records.md). `value` is a
    share, `count` the number of items behind it, and `step` the pretraining step. For an ordered pair of
    languages, `language` is the second and `first` the first, empty for the source."""

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
        """Raise ValueError for an impossible number."""
        low, high = LIMITS.get(self.measure, (0.0, 1.0))
        if not low - ROUNDED <= self.value <= high + ROUNDED:
            raise ValueError(f"value should be from {low:g} to {high:g} for {self.measure}: {self.value}")
        for name in ("count", "examples"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} should be 0 or more: {getattr(self, name)}")
        if self.null and (self.null.shuffles < 1 or self.null.low > self.null.high):
            raise ValueError(f"null should have shuffles, and a low end not above the high one: {self.null}")
        if self.units not in (WORDS, XTREME):
            raise ValueError(f"units should be {WORDS} or {XTREME}: {self.units!r}")
        if self.items is not None:
            if (ratio := self.items.ratio) is None:
                raise ValueError("items should have a denominator above 0")
            of_items = 1 - ratio if self.measure == AER else ratio
            if not math.isclose(self.value, of_items, abs_tol=ROUNDED):
                raise ValueError(f"value should match its items, {of_items}: {self.value}")


@dataclass(frozen=True)
class Published:
    """One number printed in a paper, as a share. `setting` is empty for the default setup; `title` is the
    transform's display name, `language` the test set's."""

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
    """One baseline's number, trained on examples in the language `learnt` and scored on test examples in
    `language`. A `surface` baseline compares texts, whatever their words. `settings` are the values in a
    sweep that it belongs to."""

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
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MeasuredModel:
    """A checkpoint to measure, with fields of its records; `device` is torch's name for the device."""

    checkpoint: Path
    run: str
    language: str = ""
    seed: int = 0
    step: int = 0
    device: str = "cpu"

    def record(self, measure: str, metric: str, value: float, count: int, **fields: Any) -> Record:
        about = {"language": self.language, "step": self.step, **fields}
        return Record(self.run, measure, metric, value, count, **about)


@dataclass(frozen=True)
class Measurement:
    """Records, and counts of exclusions by reason; text `files` by name, and `facts` for the manifest."""

    records: tuple[Record, ...] = ()
    exclusions: Counter[str] = field(default_factory=Counter)
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


RUNS = "runs.jsonl"  # the file in a folder with the configuration of its records' models and aligners
GIVEN = "GivenModel"  # the kind of part that contains the digest of given weights


@dataclass(frozen=True)
class Described:
    """A language or an objective as stored in records: `name` for folders and the command line, `title` for
    display, and its `parts`, each a `kind` with plain values."""

    name: str
    title: str
    parts: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, thing: Any) -> Described:
        """Describe a transform or an objective by its own attributes."""
        return cls(thing.name, thing.title, tuple(dict(part) for part in thing.facets))

    def part(self, kind: str) -> Mapping[str, Any] | None:
        """Return the parameters of the part with that kind, if any."""
        return next((part for part in self.parts if part["kind"] == kind), None)

    @property
    def given(self) -> bool:
        """Whether it is a given model, identified at most by the digest of its weights."""
        return all(part["kind"] == GIVEN for part in self.parts)


@dataclass(frozen=True)
class Start:
    """The model that a run started from, and its fraction of all steps, 0 for a given model."""

    objective: Described
    fraction: float

    @property
    def title(self) -> str:
        """Its display name, with the fraction of steps unless that is half or 0."""
        steps = "" if self.fraction in (0.0, 0.5) else f" ({self.fraction * 100:g} % of the steps)"
        return self.objective.title + steps


@dataclass(frozen=True)
class Run:
    """One model or aligner, and its configuration (docs/records.md). `languages` starts with the source.
    `objective` is a pretraining objective, fast_align's corpus, or a given encoder's folder. `main_layer` was
    chosen before anything was scored. `redrawn` lists the data that also depend on its seed, `claims` the
    digests of primary claims ("" for none), and `settings` a sweep's."""

    id: str
    study: str
    seed: int
    languages: tuple[Described, ...]
    objective: Described | None = None
    start: Start | None = None
    layers: int = 0
    main_layer: int = 0
    mixture: Described | None = None
    redrawn: tuple[str, ...] = ()
    bitexts: tuple[tuple[str, ...], ...] = ()
    claims: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
