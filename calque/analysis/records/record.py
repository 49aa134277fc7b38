"""Define records, rows with one measured or published number each, and the input and output of measures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, starmap
from pathlib import Path
from typing import Any

from calque.analysis.records.aer import LinkCounts
from calque.derive.readers.conllu import WORDS, XTREME

_RUN = re.compile(
    r"(\d{1,15})(?:\*([1-9]\d{0,6}))?", re.ASCII
)  # without limits, a short text exhausts memory


@dataclass(frozen=True)
class Items:
    """A ratio stored for each item, such as a sentence: the sum of `hits` divided by the sum of `of`. Both
    list whole numbers with repetitions: `3 4*2` means 3, 4, 4. Raises ValueError for others."""

    hits: str
    of: str

    def __post_init__(self) -> None:
        hits, sizes = (sum(times for _, times in _runs(text)) for text in (self.hits, self.of))
        if hits != sizes:
            raise ValueError(f"`hits` lists {hits} items, but `of` lists {sizes}")

    @classmethod
    def over(cls, hits: Iterable[int], sizes: Iterable[int]) -> Items:
        return cls(*(" ".join(starmap(_written, groupby(map(int, each)))) for each in (hits, sizes)))

    @property
    def ratio(self) -> float | None:
        hits, sizes = (sum(number * times for number, times in _runs(text)) for text in (self.hits, self.of))
        return hits / sizes if sizes else None

    @property
    def numbers(self) -> tuple[list[int], list[int]]:
        hits, sizes = ([n for n, times in _runs(text) for _ in range(times)] for text in (self.hits, self.of))
        return hits, sizes


def _written(number: int, run: Iterable[int]) -> str:
    times = len(list(run))
    return f"{number}*{times}" if times > 1 else str(number)


@lru_cache(maxsize=1 << 16)
def _runs(text: str) -> list[tuple[int, int]]:
    return list(map(_run, text.split()))


@lru_cache(maxsize=1 << 16)  # few of these strings are distinct
def _run(text: str) -> tuple[int, int]:
    if not (matched := _RUN.fullmatch(text)):
        raise ValueError(f"items should be whole numbers, as in '3 4*2', not {text[:80]!r}")
    return int(matched[1]), int(matched[2] or 1)


RECORDS, FLOORS = "records.jsonl", "floors.jsonl"
# Measures, in addition to the scores SUP, ZS, SRC and DEV defined in `analysis.tasks.transfer`:
ALIGNMENT = "alignment"  # alignment@1
ORDER = "order distance"  # between the word orders of a derived language and its source
AER = "AER"  # alignment error rate against gold links
RETRIEVAL = "retrieval"  # share of sentences whose nearest neighbour is their translation
LABELS = "self-labels"  # XLM-Align's self-labels during pretraining, compared with gold links
SHARING = "sharing"  # how much vocabulary a derived language shares with its source
DELTA = "DELTA"  # the loss in transfer: SUP - ZS
RECOVERED = "recovered"  # how much of DELTA an intervention at test time recovers
MEASURES = {ALIGNMENT, ORDER, AER, RETRIEVAL, LABELS, SHARING, RECOVERED}  # all except task scores
# Metrics:
ROTATED, SHUFFLED = "held-out-rotated", "held-out-shuffled"
"""Metrics for ALIGNMENT: alignment@1 over held-out types after a rotation fitted on the dictionary's pairs,
or on shuffled pairs."""
ENTRY, NO_ENTRY = "entry", "no-entry"
"""Metrics for ZS and SUP: accuracy over words that are a single type, with and without a dictionary entry."""
AFTER = " after "  # joins a metric and an intervention, as in `accuracy after rotation`
SHARE = (0.0, 1.0)  # the bounds of a share
LIMITS = {DELTA: (-1.0, 1.0), RECOVERED: (-2.0, 2.0)}
"""The bounds of other measures."""
ROUNDED = 1e-6  # rounding error allowed at the bounds


@dataclass(frozen=True)
class Record:
    """A number, its run's id, and everything that varies within a run (docs/records.md). `value` is a share
    unless `LIMITS` lists the measure, and `count` is the number of items behind it. For a pair of languages,
    `first` is the name of the first language ("" for the source)."""

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
    gold_set: str = ""
    links: LinkCounts | None = None
    items: Items | None = None
    first: str = ""
    units: str = WORDS

    def check(self) -> None:
        """Raise ValueError if a field has an impossible value."""
        low, high = LIMITS.get(self.measure, SHARE)
        if not low - ROUNDED <= self.value <= high + ROUNDED:
            raise ValueError(f"{self.measure} should be from {low:g} to {high:g}, not {self.value}")
        if self.count < 0:
            raise ValueError(f"count should be 0 or more, not {self.count}")
        if self.units not in (WORDS, XTREME):
            raise ValueError(f"units should be {WORDS} or {XTREME}, not {self.units!r}")
        if self.items is not None:
            ratio = self.items.ratio
            if ratio is None or not math.isclose(
                self.value, 1 - ratio if self.measure == AER else ratio, abs_tol=ROUNDED
            ):
                raise ValueError(f"the value is {self.value}, but the ratio of its items is {ratio}")


@dataclass(frozen=True)
class Published:
    """A number printed in a paper, as a share; `setting` is "" for the paper's default."""

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
    """The score of a baseline trained in the language `learnt`. `surface` baselines, in records
    before version 0.7, compare two texts by surface features; `settings` are swept settings' values."""

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
    """A checkpoint to measure, and the fields common to its records."""

    checkpoint: Path
    run: str
    language: str = ""
    seed: int = 0
    step: int = 0
    device: str = "cpu"

    def record(self, measure: str, metric: str, value: float, count: int, **fields: Any) -> Record:
        about: dict[str, Any] = {"language": self.language, "step": self.step} | fields
        return Record(self.run, measure, metric, value, count, **about)


@dataclass(frozen=True)
class Measurement:
    """The output of a measure: records, and counts of exclusions by reason."""

    records: tuple[Record, ...] = ()
    exclusions: Counter[str] = field(default_factory=Counter)


RUNS = "runs.jsonl"  # the runs behind a folder's records


@dataclass(frozen=True)
class Described:
    """A language or an objective: its name, its title, and its parts, each with a `kind` and parameters."""

    name: str
    title: str
    parts: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, thing: Any) -> Described:
        return cls(thing.name, thing.title, tuple(dict(part) for part in thing.facets))

    @property
    def given(self) -> bool:
        """Whether this is a given model, identified only by the digest of its weights."""
        return all(part.get("kind") == "GivenModel" for part in self.parts)


@dataclass(frozen=True)
class Start:
    """The model that a run started from, and that model's fraction of all steps (0 if it was given)."""

    objective: Described
    fraction: float

    @property
    def title(self) -> str:
        """The title, with the fraction of steps unless the fraction is 0.5 or 0."""
        steps = "" if self.fraction in (0.0, 0.5) else f" ({self.fraction * 100:g} % of the steps)"
        return self.objective.title + steps


@dataclass(frozen=True)
class Run:
    """A model or aligner and its configuration (docs/records.md). `languages` starts with the source.
    `objective` describes an objective, fast_align's corpus, or an encoder's folder. `redrawn` names the data
    that depend on the seed. `claims` contains the digests of primary claims, and `settings` the values of
    swept settings."""

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
