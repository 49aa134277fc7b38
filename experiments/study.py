"""What a study is: steps, and a report of what they made. A function returns one, as plain values."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.bpe import SMALLEST
from derive.errors import BadInput
from derive.files import fingerprint
from derive.unknown import shown
from derive.vocabulary import GivenVocabulary
from experiments.step import Stage, Step

if TYPE_CHECKING:
    from experiments.text_plan import TextPlan
    from pretrain.objective import Objective

REPORT = "report"
LONGEST = 120
"""Bytes of a name that a folder gets: file systems take 255, and fingerprints and splits come to it."""
THREADS = 1_024
TYPES = 10_000_000


class Study(ABC):
    """A new kind of study is a frozen dataclass; its fields are what `--set` changes.

    `name` is that of its folder, and `threads` how many a step computes with, which is part of what its bits depend on.
    """

    name: str
    threads: int

    @abstractmethod
    def mistakes(self) -> list[str]:
        """Everything that is wrong with this study, in words; an empty list if nothing is."""

    @property
    @abstractmethod
    def scale(self) -> str:
        """What titles say about its size: its text and its models, as they are after `--set`."""

    @property
    @abstractmethod
    def extent(self) -> str:
        """How many models of how many steps it trains, and what is done with them, in a line."""

    @abstractmethod
    def steps(self, root: Path) -> list[Step]:
        """All steps, with folders below `root`, in the order in which they should be computed."""

    def trained(self) -> list[Step]:
        """The steps that a plan estimates, which reads none of the files that they need."""
        return self.steps(Path())

    def reading(self) -> TextPlan | None:
        """What a model reads of natural languages, where their sizes are known before the text is there."""
        return None

    @abstractmethod
    def summarise(self, root: Path, folder: Path) -> str:
        """Write the report of finished steps to `folder`, whole or not at all; what a terminal should show.

        Raises:
            BadInput: what a step made is damaged.
        """

    @abstractmethod
    def account(self, root: Path) -> list[str]:
        """What came in and went out when the study's languages were derived, a line each."""

    def home(self, root: Path) -> Path:
        """Everything of the study, but for what other studies may need too."""
        return root / self.name

    def in_stages(self, root: Path, stages: Sequence[Stage]) -> list[Step]:
        """The steps of some stages."""
        return [step for step in self.steps(root) if step.stage in stages]

    def unfinished(self, root: Path) -> list[Step]:
        """The steps that a report lacks."""
        return [step for step in self.steps(root) if not step.finished]

    def report(self, root: Path, changed: bool) -> Path:
        """Where the report lies; that of a study with changed values is another one, named by what it shows."""
        if not changed:
            return self.home(root) / REPORT
        return self.home(root) / f"{REPORT}-{fingerprint([step.folder.name for step in self.steps(root)])}"


def named_wrongly(key: str, names: Sequence[str], least: int = 1) -> list[str]:
    """What is wrong with the names of a study's transforms, objectives or sets, which become folders."""
    wrong = [] if len(names) >= least else [f"{key} names at least one"]
    twice = sorted({name for name in names if names.count(name) > 1})
    wrong += [f"{key} names one twice: {', '.join(map(shown, twice))}"] if twice else []
    wrong += [
        f"{key}: {shown(name)} cannot name a folder; expected no slash, no leading dot and no invisible character"
        for name in names
        if not name.isprintable() or not re.fullmatch(r"[^/.][^/]*", name)
    ]
    long = [name for name in names if len(name.encode()) > LONGEST]
    return wrong + [f"{key}: {shown(name)} is too long for a folder's name" for name in long]


def masked_wrongly(key: str, objective: Any) -> list[str]:
    """What is wrong with the mask rates of an objective and of its parts."""
    if isinstance(objective, tuple):
        return [mistake for part in objective for mistake in masked_wrongly(key, part)]
    if not dataclasses.is_dataclass(objective):
        return []
    rate = getattr(objective, "mask_rate", 0.0)
    wrong = [] if 0 <= rate < 1 else [f"{key}: mask_rate is a share from 0 to below 1, not {rate}"]
    fields = (getattr(objective, field.name) for field in dataclasses.fields(objective))
    return list(dict.fromkeys([*wrong, *(mistake for field in fields for mistake in masked_wrongly(key, field))]))


def begun_elsewhere(objectives: Sequence[Objective]) -> list[str]:
    """What is wrong with objectives of a study whose models all begin alike."""
    begun = [objective.name for objective in objectives if objective.traits.start]
    return [f"objectives: {name} begins with another model, and none is made here" for name in begun]


def begun_with_nothing(objectives: Sequence[Objective]) -> list[str]:
    """What is wrong with objectives whose first model has new weights."""
    useless = dict.fromkeys(first.name for first in map(_first, objectives) if first.traits.needs_start)
    return [
        f"objectives: {name} is of no use to new weights; expected it after another, as {name}-after-MLM"
        for name in useless
    ]


def _first(objective: Objective) -> Objective:
    """What the first model of those that an objective begins with learns."""
    return _first(objective.traits.start[0]) if objective.traits.start else objective


def sized_wrongly(threads: int, vocabulary: int | Path, seeds: Sequence[int]) -> list[str]:
    """What is wrong with a study's number of threads, with its vocabulary and with its seeds."""
    wrong = []
    if not 1 <= threads <= THREADS:
        wrong.append(f"threads is from 1 to {THREADS:,}, not {threads:,}")
    if isinstance(vocabulary, Path):
        try:
            GivenVocabulary(vocabulary).open()
        except BadInput as error:
            wrong.append(f"vocabulary is a number of types, or the folder of a tokenizer: {error}")
    elif not SMALLEST <= vocabulary <= TYPES:
        wrong.append(f"vocabulary is from {SMALLEST} to {TYPES:,} types, not {vocabulary:,}")
    if any(not 0 <= seed < 2**63 for seed in seeds):
        wrong.append("seeds are from 0 to below 2**63")
    return wrong
