"""A study: the models to train, how they are measured, and the kind of report.

Studies share the folders of their steps. Each is named after everything that determines its content, so that
no model is trained twice:

shared/languages-FP/  the languages, derived or natural
shared/tasks/TASK-FP/, shared/floors/TASK-FP/  a task's examples, and scores of model-free baselines
shared/start/  records of a model that others start from
shared/GROUP/OBJECTIVE/seed-K-FP/  a pretraining run (natural languages form one unnamed group)
shared/GROUP/OBJECTIVE/seed-K-FP/MEASURE-FP/  records of a measure, or of a task
STUDY/report/  records, tables, figures, report.html
cache/  learnt grammars, parsed trees
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Literal

from calque.analysis.records.record import Described, Run
from calque.analysis.records.record import Start as StartOfRun
from calque.derive.errors import BadInput, unknown
from calque.derive.fingerprint import sha256
from calque.experiments.run.places import SHARED, name_mistakes
from calque.experiments.run.step import Step, cached_method, with_needs
from calque.experiments.study.languages import StudyData, StudyLanguages, chain_of
from calque.experiments.study.measures import PAIR_MEASURES, Measure, Measuring
from calque.experiments.study.models import GivenModel, Group, Model, Training, mistakes_in
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ALL_TOGETHER, Mixture, ModelConfig, TrainConfig
from calque.pretrain.model import main_layer
from calque.pretrain.objective import HeadOnly, Objective
from calque.pretrain.run import ShippedRun, runs_of

BEHIND = 2  # how many models' measures are delayed, to keep other cores busy while the last model trains
THREADS = 1_024  # maximum number of threads
START = "start"  # the name of the model that all others start from


@dataclass(frozen=True)
class Study:
    """A model for every objective, group of languages and seed, all measured in the same way. A group is a
    derived language with its source, or all natural languages. `mixture` says how much of each language is
    read. `start` is the folder of the model that others start from; with `measure_start`, it is measured too.
    Runs in the file `shipped` are not trained again. `head` specifies how to train a prediction head that the
    start lacks. `paces` gives objectives' numbers of steps, as multiples of `train.steps`. `paper` is the
    kind of report, and `claims` the file with the study's own claims, whose digest manifests contain."""

    name: str
    languages: StudyLanguages
    objectives: tuple[Objective, ...] = ()
    seeds: tuple[int, ...] = (0,)
    tasks: Mapping[str, CrossLingualTask] = field(default_factory=dict)
    measures: tuple[Measure, ...] = PAIR_MEASURES
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    start: Path | None = None
    measure_start: bool = False
    shipped: Path | None = None
    head: TrainConfig | None = None
    mixture: Mixture = ALL_TOGETHER
    paces: Mapping[str, float] = field(default_factory=dict)
    threads: int = 1
    paper: Literal["align_mlm", "xlm_align", "equal_terms", "xtreme"] = "align_mlm"
    claims: Path | None = None

    def changed(self, **values: Any) -> Study:
        """Return the study with changed values, including values of its languages, such as `transforms`."""
        languages: Any = values.pop("languages", self.languages)
        study_fields = {field.name for field in dataclasses.fields(self)}
        language_values = {key: values.pop(key) for key in values.keys() - study_fields}
        return replace(self, languages=replace(languages, **language_values), **values)

    @cached_property
    def given(self) -> GivenModel | None:
        return GivenModel(self.start) if self.start else None

    # Validation

    def mistakes(self) -> list[str]:
        """Return a message for each error in the study's values."""
        wrong = [*self._value_mistakes(), *self._objective_mistakes(), *self.languages.mistakes(self)]
        if self.claims is not None:
            wrong += self._claim_mistakes(self.claims)
        return list(dict.fromkeys(wrong or self._stage_mistakes()))

    def _value_mistakes(self) -> Iterator[str]:
        for name, config in (("model", self.model), ("train", self.train), ("head", self.head)):
            yield from (f"{name}.{mistake}" for mistake in (config.mistakes() if config else ()))
        yield from name_mistakes("seeds", [str(seed) for seed in self.seeds])
        if any(not 0 <= seed < 2**63 for seed in self.seeds):
            yield "seeds must be at least 0 and below 2**63"
        if not 1 <= self.threads <= THREADS:
            yield f"threads must be from 1 to {THREADS:,}, not {self.threads:,}"
        yield from name_mistakes("measures", [measure.name for measure in self.measures], least=0)
        for measure in self.measures:
            yield from measure.mistakes(self)
        yield from name_mistakes("tasks", list(self.tasks), least=0)
        for name, task in self.tasks.items():
            yield from (f"tasks.{name}.{mistake}" for mistake in task.mistakes(name))
        if self.measure_start and not self.start:
            yield "measure_start is set, but start is missing"

    def _objective_mistakes(self) -> Iterator[str]:
        names = [objective.name for objective in self.objectives]
        yield from name_mistakes("objectives", names, least=int(self.languages.derived))
        for objective in self.objectives:
            if self.model.layers > 0:
                yield from objective.mistakes(self.model)
            chain = chain_of(objective)
            if not self.start and (first := chain[-1]).traits.needs_start:
                expected = f"train it after another objective, as in {first.name}-after-MLM"
                yield f"objectives: {first.name} cannot start from random weights; {expected}"
            for stage in chain:
                if self.mixture.pairs is not None and not stage.reads_bitexts:
                    yield f"mixture.pairs is {self.mixture.pairs:g}, but {stage.name} reads no sentence pairs"
        for name, pace in self.paces.items():
            if name not in names:
                yield f"paces: {unknown('objective of the study', name, names)}"
            elif not 0 < pace < inf:
                yield f"paces.{name} must be positive, not {pace:g}"
        if self.head and names and not any(objective.traits.predicts for objective in self.objectives):
            yield "head: none of the objectives predicts sub-words, so none can train a prediction head"

    def _claim_mistakes(self, path: Path) -> Iterator[str]:
        """Yield errors in the file of primary claims, and names in it that the study lacks."""
        from calque.analysis.papers.primary import PrimaryClaims  # imports matplotlib

        if not self.languages.derived:
            yield "claims must be about models of a source and one derived language"
            return
        if unreadable := mistakes_in(PrimaryClaims.read, path):
            yield from unreadable
            return
        names = {
            "objective": [objective.name for objective in self.objectives],
            "transform": [transform.name for transform in self.languages.transforms],
            "task": list(self.tasks),
        }
        for line, claim in PrimaryClaims.read(path).by_line.items():
            for kind, name in claim.names:
                if name not in names[kind]:
                    fault = unknown(f"{kind} of the study", name, names[kind])
                    yield f"{path}:{line}: {fault}; use --set claims=none to skip claims"

    def _stage_mistakes(self) -> Iterator[str]:
        for objective in self.objectives:
            for stage, train in self.stages(objective):
                for mistake in train.mistakes() if train != self.train else ():
                    yield f"{stage.name}, with {train.steps} steps: train.{mistake}"

    # Folders and steps

    def home(self, root: Path) -> Path:
        """Return the folder of the steps of all studies."""
        return root / SHARED

    def steps(self, root: Path) -> list[Step]:
        """Return all steps, from derivation to evaluation, in an order in which they can be run."""
        data, models = [self.data(root, seed) for seed in self.data_seeds], self.models(root)
        steps = [inputs.text for inputs in data if inputs.text]
        steps += [step for inputs in data for step in inputs.examples.values()]
        steps += [step for inputs in data for step in inputs.floors]
        # The start is measured first, so that unreadable gold links are reported before hours of training.
        steps += [step for model in self.given_models(root) for step in self.measuring(model)]
        steps += [start for model in models for start in model.training.starts]
        measures = [*[()] * BEHIND, *(self.measuring(model) for model in models)]
        for model, delayed in zip(models, measures, strict=False):
            steps += [model.step, *delayed]
        return with_needs([*steps, *chain.from_iterable(measures[-BEHIND:])])

    def trained(self, root: Path = Path()) -> list[Step]:
        models = self.models(root)
        starts = [start for model in models for start in model.training.starts]
        return distinct([*starts, *(model.step for model in models)])

    # Data

    @property
    def data_seeds(self) -> tuple[int, ...]:
        """The seeds that sample their own data, or only the first seed if all seeds share their data."""
        return self.seeds if self.languages.redraw else self.seeds[:1]

    def data(self, root: Path, seed: int = 0) -> StudyData:
        return self._data(root, seed if self.languages.redraw else 0)

    @cached_method
    def _data(self, root: Path, seed: int) -> StudyData:
        return self.languages.data(self, self.home(root), seed)

    # Models

    def models(self, root: Path) -> list[Model]:
        """Return the models that the study trains, seed by seed."""
        return [
            self._model(root, group, objective, seed)
            for seed in (self.seeds if self.objectives else ())
            for group in self.data(root, seed).groups
            for objective in self.objectives
        ]

    def _pretraining(self, root: Path, group: Group, objective: Objective, seed: int) -> Step:
        """Return the step that trains a model, after the steps that train what it starts from."""
        start: Any = self.given
        stages, claims = self.stages(objective), sha256(self.claims) if self.claims else ""
        if self.given and self.head and not self.given.has_head:
            head = HeadOnly(next(candidate for candidate in self.objectives if candidate.traits.predicts))
            stages = [(head, self.head), *stages]
        for stage, train in stages:
            settings = stage, self.model, train, seed, start, self.mixture
            training = Training(group.data, group.languages, *settings, claims=claims)
            if self.shipped and training.name_in_file in runs_of(self.shipped):
                training = replace(training, shipped=ShippedRun(self.shipped, training.name_in_file))
            start = training.step(self.home(root), group.name, self.threads)
        return start

    def stages(self, objective: Objective) -> list[tuple[Objective, TrainConfig]]:
        """Return the objectives that a model is trained with, in order, and their training settings."""
        pace, (first, share) = self.paces.get(objective.name, 1.0), objective.traits.start or (None, 0.0)
        before = round(self.train.steps * (pace * share))
        last = objective, replace(self.train, steps=round(self.train.steps * pace) - before)
        return [(first, replace(self.train, steps=before)), last] if first else [last]

    def _model(self, root: Path, group: Group, objective: Objective, seed: int) -> Model:
        step, derived = self._pretraining(root, group, objective, seed), self.languages.derived
        start = StartOfRun(self._given, 0.0) if self._given and step.config.start else None
        if objective.traits.start:
            first, share = objective.traits.start
            start = StartOfRun(Described.of(first), share)
        run = Run(
            id="",
            study=self.name,
            seed=seed,
            languages=group.described,
            objective=Described.of(objective),
            start=start,
            layers=self.model.layers,
            main_layer=0 if derived and not self.measure_start else objective.main_layer(self.model.layers),
            mixture=Described.of(self.mixture) if derived and self.mixture != ALL_TOGETHER else None,
            redrawn=self.languages.draws,
            bitexts=tuple(self.languages.bitexts),
        )
        return Model(step, run, self.home(root), "", self.tasks, self.data(root, seed).examples)

    def given_models(self, root: Path) -> list[Model]:
        """Return the start and, for fine-tuning, one copy of it per seed, if these models are measured."""
        if self.given is None or not self.measure_start:
            return []
        layers, data = self.model.layers, self.data(root)
        run = Run("", self.name, 0, data.described, self._given, layers=layers, main_layer=main_layer(layers))
        start = Model(self.given, run, self.home(root), START, self.tasks, data.examples)
        tuned = (
            replace(start, about=replace(run, seed=seed), place=f"{START}/seed-{seed}") for seed in self.seeds
        )
        return [start, *tuned]

    @property
    def _given(self) -> Described | None:
        if self.given is None:
            return None
        if self.measure_start:
            return Described(START, "the start", self.given.facets)
        return Described(self.given.fingerprint, self.given.checkpoint.name, self.given.facets)

    # Measures

    def measuring(self, model: Model) -> list[Step]:
        """Return the steps that measure a model before (not copies of the start) and after fine-tuning."""
        measures = list[Measure]()
        if model.place == START or model.trained:
            measures += [part for measure in self.measures for part in measure.parts()]
        if model.place != START:
            measures += [self.languages.scores(name) for name in self.tasks if name in model.examples]
        return [
            Measuring.step(measure, model, self.threads) for measure in measures if measure.applies(model)
        ]

    def measured(self, root: Path) -> list[Step]:
        """Return the steps whose records the report shows, in its order."""
        models = [*self.given_models(root), *self.models(root)]
        return [step for model in models for step in self.measuring(model)]


def distinct(steps: Iterable[Step]) -> list[Step]:
    """Return the steps with different folders or, if inputs cannot be read yet, configurations."""
    by_key: dict[Any, Step] = {}
    for step in steps:
        try:
            by_key.setdefault(step.folder, step)
        except BadInput:
            by_key.setdefault((step.place, repr(step.config)), step)
    return list(by_key.values())
