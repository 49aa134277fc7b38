"""Runs: the languages, objective and seed of each, written once, so that no name is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RUNS = "runs.jsonl"  # the file of a folder with the configuration of its records' models and aligners
GIVEN = "GivenModel"  # the kind of the part that holds the digest of given weights


@dataclass(frozen=True)
class Described:
    """A language or an objective as records store it: its name in folders and on the command line, its name
    for people, and its components, each a `kind` (Transliterate, Invert, MLM, DWA) with plain values."""

    name: str
    title: str
    parts: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, thing: Any) -> Described:
        """A transform or an objective, which describes itself."""
        return cls(thing.name, thing.title, tuple(dict(part) for part in thing.facets))

    def part(self, kind: str) -> Mapping[str, Any] | None:
        """The parameters of the part of that kind, if there is one."""
        return next((part for part in self.parts if part["kind"] == kind), None)

    @property
    def given(self) -> bool:
        """Whether it is a given model, of which at most the digest of its weights is known."""
        return all(part["kind"] == GIVEN for part in self.parts)


@dataclass(frozen=True)
class Start:
    """The model that a run started from, and its fraction of all steps, 0 for a given model."""

    objective: Described
    fraction: float

    @property
    def title(self) -> str:
        """Its name for people, without the fraction of steps if that is half or 0."""
        steps = "" if self.fraction in (0.0, 0.5) else f" ({self.fraction * 100:g} % of the steps)"
        return self.objective.title + steps


@dataclass(frozen=True)
class Run:
    """One model, or one aligner that learnt from one text, and its configuration (docs/records.md).
    `languages` have the source first. `objective` is a pretraining objective, fast_align's text, or the
    folder of a given encoder; None if nothing was learnt. `main_layer` was chosen before anything was scored
    (0: none). `redrawn` lists what else its seed decides, such as "the dictionary". `claims` are the digests
    of the primary claims with which it was trained and measured, "" for none. `settings` are of a sweep."""

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
