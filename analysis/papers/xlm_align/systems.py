"""Aligners on gold sets, looked up by what a row of a table shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.aligners.methods import BY_NAME
from analysis.records.link_counts import LinkCounts
from analysis.records.record import AER, Record
from analysis.results.results import Results

FAST_ALIGN, DIAGONAL = "fast_align", "diagonal"


@dataclass(frozen=True)
class System:
    """What is the same on every gold set.

    `aligner` is fast_align, diagonal (each target word with the source word in the same place), or how links are read
    from an encoder's hidden states (`analysis.aligners.methods`). `learnt` is the name of what it learnt by: the
    objective or folder of an encoder, or fast_align's text; the diagonal learns nothing. `symmetrisation` is that of
    fast_align, or its direction. `layer` is one of an encoder's `layers`, and `main_layer` the one that was chosen
    before anything was scored; `joint` says that it saw a pair as one row.
    """

    aligner: str
    learnt: str
    symmetrisation: str
    joint: bool
    layer: int | None
    layers: int
    main_layer: int

    @property
    def main(self) -> bool:
        """Whether it is no other layer than the chosen one."""
        return self.layer in (None, self.main_layer)

    @property
    def named(self) -> bool:
        """Whether it needs no encoder, or reads links by a method that has a name of its own: no mere choice."""
        return not self.layers or self.aligner in BY_NAME


class Systems:
    """The systems of a study of word alignment, in the order of its records, and their scores on its gold sets."""

    def __init__(self, results: Results, sets: Sequence[str]) -> None:
        self.results, self.sets = results, tuple(sets)
        self._scores: dict[System, dict[str, LinkCounts]] = {}
        self._records: dict[System, list[Record]] = {}
        for record in results.records:
            if record.measure == AER and record.links is not None:
                system = self._system(record)
                self._scores.setdefault(system, {})[record.gold_set] = record.links
                self._records.setdefault(system, []).append(record)

    def systems(
        self, *, aligner: str | None = None, symmetrisation: str | None = None, joint: bool | None = None
    ) -> list[System]:
        """Every system that fits, at every layer."""
        return [
            system
            for system in self._scores
            if aligner in (None, system.aligner)
            if symmetrisation in (None, system.symmetrisation)
            if joint in (None, system.joint)
        ]

    def main(self, *, joint: bool | None = None) -> list[System]:
        """Every system by a method with a name of its own, of encoders the chosen layer."""
        return [system for system in self.systems(joint=joint) if system.main and system.named]

    def chosen_among(self) -> list[System]:
        """Those of the encoders whose links were read by every choice of similarity, plan and rule, at every layer."""
        every = {system.learnt for system in self._scores if not system.named}
        return [system for system in self._scores if system.layers and system.learnt in every]

    def encoders(self, *, joint: bool) -> list[System]:
        """Each encoder and aligner at the chosen layer."""
        return [system for system in self.main(joint=joint) if system.layers]

    def by_set(self, system: System) -> dict[str, LinkCounts]:
        """The scores of a system on the gold sets that it has, in their order."""
        scores = self._scores[system]
        return {name: scores[name] for name in self.sets if name in scores}

    def records(self, systems: Iterable[System]) -> list[Record]:
        """The records behind systems, each once."""
        return [record for system in dict.fromkeys(systems) for record in self._records[system]]

    def runs(self, systems: Iterable[System]) -> tuple[str, ...]:
        """The runs behind systems."""
        return tuple(sorted({record.run for record in self.records(systems)}))

    def title(self, system: System) -> str:
        """What people call what a system learnt by."""
        return self.results.objective_title(system.learnt) if system.learnt else ""

    def _system(self, record: Record) -> System:
        run = self.results.runs[record.run]
        learnt = run.objective.name if run.objective else ""
        facets = (record.symmetrisation, record.joint, record.layer)
        return System(record.aligner, learnt, *facets, run.layers, run.main_layer)


def macro(scores: Iterable[LinkCounts]) -> float | None:
    """The mean of the sets' error rates, as the paper's average; None where one of them has none."""
    rates = [score.aer for score in scores]
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known and len(known) == len(rates) else None


def micro(scores: Iterable[LinkCounts]) -> LinkCounts:
    """The counts of all sentence pairs together."""
    return sum(scores, LinkCounts())
