"""What every measure takes and gives: a model with the facts that its records state, and records with exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.records.record import Record


@dataclass(frozen=True)
class MeasuredModel:
    """A checkpoint, and what records say about it.

    `run` is its id in records and `language` the derived language that its numbers are about, if there is one. `seed`
    belongs to the run and its fine-tuning, and `step` is the step of pretraining. `device` is torch's name of it.
    """

    checkpoint: Path
    run: str
    language: str = ""
    seed: int = 0
    step: int = 0
    device: str = "cpu"

    def record(self, measure: str, metric: str, value: float, count: int, **fields: Any) -> Record:
        """A number of this model; `fields` are further ones of its record, or replace those of the model."""
        return Record(
            self.run, measure, metric, value, count, **{"language": self.language, "step": self.step, **fields}
        )


@dataclass(frozen=True)
class Measurement:
    """Records, and counts of what was excluded, by reason; text `files` by name, and `facts` for the manifest."""

    records: tuple[Record, ...] = ()
    exclusions: Counter[str] = field(default_factory=Counter)
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
