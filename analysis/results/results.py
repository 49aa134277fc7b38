"""A study's runs and records, joined: the one place where tables, figures and claims look numbers and titles up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from analysis.records.floor import Floor
from analysis.records.record import ALIGNMENT, ORDER, Published, Record
from analysis.records.run import Described, Run, Start
from analysis.results.floors import Floors
from analysis.results.measured import BySeed, Measured, mean
from analysis.statistics.intervals import Estimate
from analysis.tasks.catalog import PRIMARY
from derive.errors import BadInput

Key = tuple[object, ...]


class _Key(NamedTuple):
    """Everything that tells one number from another, but for its seed and step."""

    measure: str
    objective: str
    transform: str
    task: str
    metric: str
    layer: int | None = None
    joint: bool = False
    split: str = ""
    aligner: str = ""
    symmetrisation: str = ""
    gold_set: str = ""
    first: str = ""
    examples: int = 0
    mixture: str = ""


@dataclass(frozen=True)
class Point:
    """One cell of a study as a point: its alignment and its Delta."""

    objective: str
    transform: str
    alignment: Estimate
    delta: Estimate


class Results:
    """The runs and records of one study, and the published numbers and the floors to hold them against.

    Objectives and transforms are asked for by their names; a transform's name is its derived language's.

    Raises:
        BadInput: two runs of one name or runs of several studies, a record of a run that is not there or of a language
            that is none of its run's, or two records or floors of one number (as when a study ran twice into one file).
    """

    def __init__(
        self,
        runs: Iterable[Run],
        records: Iterable[Record],
        published: Iterable[Published] = (),
        floors: Iterable[Floor] = (),
    ) -> None:
        self.runs: dict[str, Run] = {}
        for made in runs:
            if self.runs.setdefault(made.id, made) is not made:
                raise BadInput(f"two runs are called {made.id}")
        self.records = tuple(records)
        self.published = tuple(published)
        self.floors = Floors(floors)
        studies = sorted({run.study for run in self.runs.values()})
        if len(studies) > 1:
            raise BadInput(f"records of several studies: {', '.join(studies)}; expected those of one")
        self.study = studies[0] if studies else ""
        self.source = next((run.languages[0].name for run in self.runs.values() if run.languages), "")
        self._steps: dict[Key, dict[tuple[int, int], Record]] = {}
        for record in self.records:
            run = self.runs.get(record.run)
            if run is None:
                raise BadInput(f"a record of the run {record.run}, and no such run among {len(self.runs)}")
            known = ("", *(language.name for language in run.languages))
            if unknown := [name for name in (record.language, record.first) if name not in known]:
                raise BadInput(f"a record of {unknown[0]}, which is no language of the run {run.id}")
            column = self._steps.setdefault(self._key(record), {})
            other = column.setdefault((run.seed, record.step), record)
            if other is not record:
                raise BadInput(f"two records of one number, from run {other.run} and run {record.run}: {record}"[:500])
        self._printed = {
            (p.table, p.measure, p.objective, p.transform, p.task, p.metric): p for p in self.published if not p.setting
        }
        with_records = dict.fromkeys(self.runs[record.run].id for record in self.records)
        shown = [self.runs[name] for name in with_records]
        self._objectives = {run.objective.name: run.objective for run in shown if run.objective}
        self._starts = {run.objective.name: run.start for run in shown if run.objective}
        self._languages = {language.name: language for run in shown for language in run.languages[1:]}
        self.objectives = list(self._objectives)
        self.transforms = list(dict.fromkeys(r.language for r in self.records if r.language in self._languages))
        tasks = {record.task for record in self.records if record.task}
        self.tasks = [*(task for task in PRIMARY if task in tasks), *sorted(tasks - PRIMARY.keys())]
        self.seeds = sorted({run.seed for run in shown})
        drawn = [run.redrawn for run in shown]
        self.redrawn = tuple(what for what in (drawn[0] if drawn else ()) if all(what in each for each in drawn))

    def last(
        self,
        measure: str,
        objective: str,
        transform: str,
        task: str,
        metric: str,
        *,
        layer: int | None = None,
        joint: bool = False,
        split: str = "",
        first: str = "",
        mixture: str = "",
    ) -> dict[int, Record]:
        """Each seed's record of the last step; `first` and `mixture` as `Record` and `Run` have them."""
        key = _Key(
            measure, objective, transform, task, metric, layer, joint=joint, split=split, first=first, mixture=mixture
        )
        column = self._steps.get(key, {})
        return {seed: column[seed, step] for seed, step in sorted(column)}

    def scores(
        self,
        measure: str,
        objective: str,
        transform: str,
        task: str,
        metric: str,
        *,
        layer: int | None = None,
        joint: bool = False,
        first: str = "",
        mixture: str = "",
    ) -> BySeed:
        """Each seed's number."""
        last = self.last(
            measure, objective, transform, task, metric, layer=layer, joint=joint, first=first, mixture=mixture
        )
        return {seed: Measured.of(record) for seed, record in last.items()}

    def deltas(self, objective: str, transform: str, task: str, metric: str) -> BySeed:
        """Each seed's Delta = SUP - ZS, for the seeds that have both; both are of the same test items."""
        sup, zs = (self.scores(measure, objective, transform, task, metric) for measure in ("SUP", "ZS"))
        return {seed: sup[seed] - zs[seed] for seed in sorted(sup.keys() & zs.keys())}

    def alignments(self, objective: str, transform: str, metric: str) -> BySeed:
        """Each seed's alignment@1 after the last step."""
        return self.scores(ALIGNMENT, objective, transform, "", metric)

    def distances(self, objective: str, transform: str) -> BySeed:
        """Each seed's distance between the source's word order and the derived language's."""
        return self.scores(ORDER, objective, transform, "", "kendall")

    def growth(self, objective: str, transform: str, metric: str, measure: str = ALIGNMENT) -> dict[int, BySeed]:
        """Alignment@1, or another measure, at each step that was probed, ascending."""
        steps: dict[int, dict[int, Measured]] = {}
        column = self._steps.get(_Key(measure, objective, transform, "", metric), {})
        for (seed, step), record in sorted(column.items()):
            steps.setdefault(step, {})[seed] = Measured.of(record)
        return dict(sorted(steps.items()))

    def columns(self) -> Iterator[tuple[Record, BySeed]]:
        """Every number of the last step by seed, Delta made of SUP and ZS, with a record that says what it is of."""
        for (measure, *rest), column in self._steps.items():
            last = {seed: column[seed, step] for seed, step in sorted(column)}
            first, values = next(iter(last.values())), {seed: Measured.of(record) for seed, record in last.items()}
            if measure != "DELTA":
                yield first, values
            if measure == "SUP" and (zero_shot := self._steps.get(("ZS", *rest))):
                zs = {seed: Measured.of(zero_shot[seed, step]) for seed, step in sorted(zero_shot)}
                both = {seed: sup - zs[seed] for seed, sup in values.items() if seed in zs}
                yield replace(first, measure="DELTA"), both

    def cell(self, record: Record) -> Key:
        """Everything that a record's run is made of but its seed."""
        run = self.runs[record.run]
        return self.objective_of(record), run.mixture and run.mixture.name, *(one.name for one in run.languages)

    def points(self, task: str, metric: str, aligned: str = "all") -> list[Point]:
        """Alignment and Delta of every cell that has both.

        They are means over seeds: runs of one cell are no new cases for a correlation.
        """
        points = []
        for transform in self.transforms:
            for objective in self.objectives:
                alignment = mean(self.alignments(objective, transform, aligned))
                delta = mean(self.deltas(objective, transform, task, metric))
                if alignment and delta:
                    points.append(Point(objective, transform, alignment, delta))
        return points

    def layers(self, measure: str) -> list[int]:
        """The layers that a measure was taken at, ascending."""
        return sorted({r.layer for r in self.records if r.measure == measure and r.layer is not None})

    def printed(
        self, table: int, measure: str, objective: str, transform: str, task: str, metric: str
    ) -> Published | None:
        """What a paper's table prints for the cell in its default setting."""
        return self._printed.get((table, measure, objective, transform, task, metric))

    def select(self, measures: Collection[str], tasks: Mapping[str, str]) -> list[Record]:
        """The records of some measures, for each task (or "") of one metric: what a table or a figure shows."""
        return [r for r in self.records if r.measure in measures and tasks.get(r.task) == r.metric]

    def of_cells(self, cells: Collection[tuple[str, str]], measures: Collection[str]) -> list[Record]:
        """The records of some measures of some (objective, transform)."""
        return [r for r in self.records if r.measure in measures and (self.objective_of(r), r.language) in cells]

    def objective_of(self, record: Record) -> str:
        """The name of the objective of a record's run; empty where it learnt nothing."""
        objective = self.runs[record.run].objective
        return objective.name if objective else ""

    def objective(self, name: str) -> Described:
        """What an objective is made of."""
        return self._objectives[name]

    def start(self, name: str) -> Start | None:
        """What an objective's models began with, if not with weights that were drawn."""
        return self._starts[name]

    def transform(self, name: str) -> Described:
        """What a derived language is made of."""
        return self._languages[name]

    def objective_title(self, name: str) -> str:
        """What people call an objective, also one that only the paper has."""
        known = self._objectives.get(name)
        return known.title if known else name

    def transform_title(self, name: str) -> str:
        """What people call a transform, also one that only the paper has."""
        known = self._languages.get(name)
        printed = (p.title for p in self.published if p.transform == name)
        return known.title if known else next(printed, "") or name

    def run_ids(self, measures: Sequence[str] = ()) -> tuple[str, ...]:
        """The runs that have records, or records of some measures."""
        return tuple(sorted({r.run for r in self.records if not measures or r.measure in measures}))

    def _key(self, r: Record) -> Key:
        objective = self.objective_of(r)
        read = self.runs[r.run].mixture
        facets = (r.layer, r.joint, r.split, r.aligner, r.symmetrisation, r.gold_set, r.first, r.examples)
        return _Key(r.measure, objective, r.language, r.task, r.metric, *facets, read.name if read else "")
