"""Runs: the languages, objective and seed of each, written once, so that no name is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RUNS = "runs.jsonl"  # the file of a folder that says what the models and aligners of its records were made of


GIVEN = "GivenModel"  # the kind of the part that holds the digest of given weights


@dataclass(frozen=True)
class Described:
    """A language or an objective as records keep it. `name` is what folders and the command line call it, `title` what
    people do. `parts` are what it is made of, each its `kind` (Transliterate, Invert, MLM, DWA) and its parameters, as
    plain values: parameters, seeds, mask rates and switches. A language that no transform made has no parts."""

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
        """Whether it is a model that no objective trained: of its parts at most the digest of its weights is known."""
        return all(part["kind"] == GIVEN for part in self.parts)


@dataclass(frozen=True)
class Start:
    """The model that a run started from, by its objective or the digest of its weights, and the fraction of all steps
    that were spent on it: none where it was given."""

    objective: Described
    fraction: float

    @property
    def title(self) -> str:
        """What people call it; half of the steps, or none, goes without saying."""
        steps = "" if self.fraction in (0.0, 0.5) else f" ({self.fraction * 100:g} % of the steps)"
        return self.objective.title + steps


@dataclass(frozen=True)
class Run:
    """One model, or one aligner that learnt from one text, and its configuration (docs/records.md). `languages` have
    the source first. `objective` is what it learnt by: a pretraining objective, fast_align's text, or the folder of an
    encoder that was given; None where nothing was learnt. `main_layer` was chosen before anything was scored (0: none,
    or no encoder). `redrawn` says what else its seed decides, as "the dictionary"; the seeds of a study share the rest.
    `settings` are the values of the settings that a sweep varies."""

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
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
