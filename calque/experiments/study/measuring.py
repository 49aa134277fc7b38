"""The step that measures a model, and its records on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS, Measurement, Record, Run
from calque.derive.artefact import Artefact, making
from calque.derive.fingerprint import code_of
from calque.experiments.run.step import Machine, Step
from calque.experiments.study.measures import Measure
from calque.experiments.study.models import Model


@dataclass(frozen=True)
class Measuring:
    """The config of a step that measures a model. `data` is the text that the model has read."""

    measure: Measure
    model: Model
    data: Step | None

    @classmethod
    def step(cls, measure: Measure, model: Model, threads: int) -> Step:
        config = cls(measure, model, model.training.data if model.trained else None)
        place, title = model.folder / measure.name, f"{measure.name} {model.name}"
        return Step(config, place, title, "evaluate", "records", threads=threads)

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


def write_measurement(
    step: Step, measurement: Measurement, machine: Machine, runs: Sequence[Run] = ()
) -> None:
    """Write a step's measurement to its folder; `runs` describes aligners other than the study's models."""
    facts = {"made with": machine.world.machine, "left out": dict(+measurement.exclusions)}
    with making(step.folder, step.kind, {**step.facts, **facts, **measurement.facts}) as part:
        json_rows.write(part / RUNS, runs)
        json_rows.write(part / RECORDS, measurement.records)


def read_measured(step: Step) -> tuple[Sequence[Run], list[Record]]:
    """Read the runs and records that a finished step measured. Raises BadInput for damaged files."""
    artefact = Artefact.open(step.folder, step.kind)
    runs, records = json_rows.read(artefact.path(RUNS), Run), json_rows.read(artefact.path(RECORDS), Record)
    if isinstance(step.config, Measuring):
        return [step.config.run(artefact)], records
    # Another study may have computed the step.
    return [replace(run, study=step.config.study) for run in runs], records
