"""Measuring a model as a step: its fingerprint, and its records on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS, Measurement, Record, Run
from calque.derive.artefact import Artefact, making
from calque.derive.fingerprint import code_of
from calque.experiments.run.step import Machine, Step
from calque.experiments.study.models import Model
from calque.experiments.study.tasks import CrossLingualTask


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of a model. Increase `format` when a code change alters a model's records. `terms` are
    glossary entries for the report, by title."""

    format: ClassVar[int] = 1
    any_model: ClassVar[bool] = False  # whether the measure applies without a language pair
    terms: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @property
    @abstractmethod
    def name(self) -> str:
        """The measure's name in settings and in its folder's name."""

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        """Measure a model. Raises BadInput if the checkpoint or data are damaged or do not match.

        Measures that consist of other `parts` need not define this method."""
        raise NotImplementedError

    def of_study(self, tasks: Mapping[str, CrossLingualTask], examples: Mapping[str, Step]) -> Measure:
        """Return the measure, supplied with the tasks and the examples (by task) that it needs from a
        study."""
        return self

    def parts(self) -> Sequence[Measure]:
        """Return the measures to compute: by default, only this one."""
        return (self,)

    def mistakes(self, study: Any) -> list[str]:
        """Return a message for each error in the measure's settings, given the study's settings."""
        return []

    def applies(self, model: Model) -> bool:
        return self.any_model or model.of_pair

    def settings(self, model: Model) -> Any:
        return self

    def work(self, model: Model) -> float:
        """Return the number of operations, from which the time is estimated; 0 if the measure trains
        nothing."""
        return 0.0


@dataclass(frozen=True)
class Measuring:
    """The config of a step that measures a model. `data` is the text that the model has read."""

    measure: Measure
    model: Model
    data: Step | None

    def identity(self) -> list[Any]:
        identity = [self.measure.name, self.measure.format, self.measure.settings(self.model), self.model]
        if self.data and not self.measure.any_model:  # includes the dictionary, which the model may not use
            config, names = self.data.config, self.model.training.languages
            identity.append({name: config.language(name) for name in names})
        code = code_of(type(self.measure))
        return [*identity, code] if code else identity

    def compute(self, step: Step, machine: Machine) -> None:
        from calque.pretrain.run import CLAIMS

        measurement = self.measure(self.model, machine)
        noted = {CLAIMS: self.claims} if self.claims else {}
        write_measurement(step, replace(measurement, facts={**measurement.facts, **noted}), machine)

    @property
    def work(self) -> float:
        return self.measure.work(self.model)

    @property
    def claims(self) -> str:
        return self.model.training.claims if self.data else ""

    def run(self, measured: Artefact) -> Run:
        from calque.pretrain.run import CLAIMS

        if not self.claims:
            return self.model.run
        noted = {artefact.facts.get(CLAIMS, "") for artefact in (self.model.step.open(), measured)}
        return replace(self.model.run, claims=tuple(sorted(noted)))


def measuring(measure: Measure, model: Model, threads: int) -> Step:
    """Return the step that measures a model."""
    config = Measuring(measure, model, model.training.data if model.trained else None)
    place, title = model.folder / measure.name, f"{measure.name} {model.name}"
    return Step(config, place, title, "evaluate", "records", threads=threads)


def write_measurement(
    step: Step, measurement: Measurement, machine: Machine, runs: Sequence[Run] = ()
) -> None:
    """Write a step's measurement to its folder; `runs` describes aligners other than the study's models."""
    facts = {"made with": machine.world.machine, "left out": dict(+measurement.exclusions)}
    with making(step.folder, step.kind, {**step.facts, **facts, **measurement.facts}) as part:
        json_rows.write(part / RUNS, runs)
        json_rows.write(part / RECORDS, measurement.records)


@dataclass(frozen=True)
class MeasuredStep:
    step: Step
    runs: Sequence[Run]
    records: Sequence[Record]
    exclusions: Mapping[str, int]


def read_measured(step: Step) -> MeasuredStep:
    """Read a finished step's measurement. Raises BadInput for damaged files."""
    artefact = step.open()
    runs, records = json_rows.read(artefact.path(RUNS), Run), json_rows.read(artefact.path(RECORDS), Record)
    if isinstance(step.config, Measuring):
        runs = [step.config.run(artefact)]
    else:  # another study may have computed it
        runs = [replace(run, study=step.config.study) for run in runs]
    return MeasuredStep(step, runs, records, artefact.facts["left out"])
