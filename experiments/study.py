"""A study: models x measures, and the paper that its report is about. A function returns one, as plain values.

<root>/<study>/languages-<fp>/                            the languages, derived or natural
<root>/<study>/tasks/<task>-<fp>/                         a task's examples in them
<root>/<study>/floors/<task>-<fp>/                        scores of model-free baselines
<root>/<study>/start/...                                  records of the model that all others start from
<root>/<study>/<group>/<objective>/seed-<k>-<fp>/         a pretraining run; natural languages are one group, unnamed
<root>/<study>/<group>/<objective>/seed-<k>-<fp>/<measure>-<fp>/   records of a measure, or of a task
<root>/<study>/report/                                    records, tables, figures, report.html
<root>/cache/                                             shared by studies: learnt grammars, parsed trees
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from calque.analysis.records.run import Described, Run
from calque.analysis.records.run import Start as StartOfRun
from calque.derive.fingerprint import fingerprint, sha256
from calque.derive.language import SOURCE
from calque.derive.transform import Transform
from calque.experiments.aligners import GoldSetAligner
from calque.experiments.finetuning import Transfer, ZeroShot
from calque.experiments.languages import THE_SOURCE, DerivedLanguages, GoldPairs, NaturalLanguages
from calque.experiments.measures import PAIR_MEASURES, ExampleMeasure, Measure, Measures, Retrieval, measuring
from calque.experiments.models import GivenModel, Group, Model, Training, Weights
from calque.experiments.report_records import REPORT
from calque.experiments.step import Step, cached_method, with_needs
from calque.experiments.tasks import CrossLingualTask, DerivedExamples, Floors, NaturalExamples
from calque.pretrain.architecture import main_layer
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.mixture import ALL_TOGETHER, Mixture
from calque.pretrain.objective import HeadOnly, Objective

START = "start"
THE_START = Described(START, "the start")  # the model that all others start from, as records describe it
BEHIND = 2  # models whose measures wait, so that other cores are busy while the last model is trained on one


@dataclass(frozen=True)
class Alone:
    """Models of the source alone, to compare models of several languages with. They learn `objective` for the fractions
    `budgets` of the steps, with the warm-up in proportion, and for all steps with the smaller batches `batches`."""

    objective: Objective
    budgets: tuple[float, ...]
    batches: tuple[int, ...] = ()

    def variants(self, train: TrainConfig) -> list[tuple[str, TrainConfig]]:
        """The names of the models, and their training configs."""
        shorter = [
            (f"of-{steps}", replace(train, steps=steps, warmup=train.warmup * steps // train.steps))
            for steps in self.steps(train)
        ]
        return shorter + [(f"by-{batch}", replace(train, batch=batch)) for batch in self.batches]

    def steps(self, train: TrainConfig) -> list[int]:
        return [max(1, round(budget * train.steps)) for budget in self.budgets]

    def mistakes(self, train: TrainConfig) -> list[str]:
        wrong, steps = [], self.steps(train)
        if sorted(set(steps)) != steps or len(self.budgets) < 2 or self.budgets[-1] != 1:
            wrong.append(f"budgets are two or more ascending fractions of the steps, the last 1, not {self.budgets}")
        elif self.budgets[0] <= 0:
            wrong.append(f"budgets are above 0, not {self.budgets[0]}")
        if list(self.batches) != sorted(set(self.batches)) or not all(0 < rows < train.batch for rows in self.batches):
            wrong.append(f"batches are ascending numbers of rows below train.batch ({train.batch}), not {self.batches}")
        return wrong + [
            f"batches: grad_accumulation ({train.micro_batches:,}) is at most a batch, not above {rows:,}"
            for rows in self.batches
            if rows < train.micro_batches
        ]


@dataclass(frozen=True)
class Study:
    """Every objective, on every group of languages, with every seed, all with the same measures. A group is a derived
    language with its source, or the source and one derived language for each further share of one of `mixtures`; all
    natural languages; or a gold set with text. `mixture` sets how much of each language is read; with `mixtures`, only
    its held-out text applies. `start` is the folder, or the hub's name with a revision, of the model that others start
    from; runs in the file `shipped` are not trained again (`pretrain.shipped`). `head` trains a prediction head first
    if it has none, by the first objective that predicts. `paces` are the steps of objectives, as a multiple of
    `train.steps`. `encoder` is measured on gold sets next to the study's models.
    `paper` names the tables, figures and claims of the report, and `claims` is the file of the study's own claims
    (`analysis.papers.primary`); manifests note its digest."""

    name: str
    languages: DerivedLanguages | NaturalLanguages | GoldPairs
    objectives: tuple[Objective, ...] = ()
    seeds: tuple[int, ...] = (0,)
    tasks: Mapping[str, CrossLingualTask] = field(default_factory=dict)
    measures: tuple[Measures, ...] = PAIR_MEASURES
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    start: Path | None = None
    shipped: Path | None = None
    head: TrainConfig | None = None
    mixture: Mixture = ALL_TOGETHER
    mixtures: tuple[Mixture, ...] = ()
    alone: Alone | None = None
    paces: Mapping[str, float] = field(default_factory=dict)
    encoder: Path | None = None
    threads: int = 1
    paper: Literal["align_mlm", "xlm_align", "equal_terms", "growth", "xtreme", "links"] = "align_mlm"
    claims: Path | None = None

    def changed(self, **values: Any) -> Study:
        """The study with other values; values of the languages, such as `transforms`, can be named directly."""
        own = {field.name for field in dataclasses.fields(self)}
        of_languages = {key: value for key, value in values.items() if key not in own}
        languages = replace(values.pop("languages", self.languages), **of_languages)
        return replace(self, **{key: value for key, value in values.items() if key in own}, languages=languages)

    @cached_property
    def given(self) -> GivenModel | None:
        return GivenModel(self.start) if self.start else None

    @cached_property
    def claims_digest(self) -> str:
        return sha256(self.claims) if self.claims else ""

    # Folders and steps

    def home(self, root: Path) -> Path:
        return root / self.name

    def report(self, root: Path, changed: bool) -> Path:
        """The folder of the report; a study with changed values has one of its own, named by its contents."""
        if not changed:
            return self.home(root) / REPORT
        return self.home(root) / f"{REPORT}-{fingerprint([step.folder.name for step in self.steps(root)])}"

    def steps(self, root: Path) -> list[Step]:
        models = self.models(root)
        steps = [step for seed in self.data_seeds if (step := self.languages_step(root, seed))]
        steps += [step for seed in self.data_seeds for step in self.examples(root, seed).values()]
        steps += self.baselines(root)
        # The start is measured first, so that unreadable gold links are reported before hours of training.
        steps += [step for model in self.given_models(root) for step in self.measuring(root, model)]
        steps += [step for model in models for step in _starts(model.weights)]
        measured = [(model.weights, self.measuring(root, model)) for model in models]
        for place, (weights, _) in enumerate(measured):
            assert isinstance(weights, Step)
            steps.append(weights)
            steps += measured[place - BEHIND][1] if place >= BEHIND else []
        return with_needs(steps + [step for _, measures in measured[-BEHIND:] for step in measures])

    def trained(self, root: Path = Path()) -> list[Step]:
        """The steps of pretraining, shipped or not; no file of the data is read."""
        models = self.models(root)
        steps = [step for model in models for step in _starts(model.weights)]
        steps += [model.weights for model in models if isinstance(model.weights, Step)]
        return list({(step.place, step.config.train.steps): step for step in steps}.values())

    # Data

    @property
    def data_seeds(self) -> tuple[int, ...]:
        """The seeds with data of their own; the first one, if all share their data."""
        redraw = isinstance(self.languages, DerivedLanguages) and self.languages.redraw
        return self.seeds if redraw else self.seeds[:1]

    def languages_step(self, root: Path, seed: int) -> Step | None:
        """The step that prepares the text of a seed's models, if all of them read the same."""
        if isinstance(self.languages, DerivedLanguages):
            return self.languages.of_seed(seed).step(self.home(root))
        if isinstance(self.languages, NaturalLanguages) and self.given and self.objectives:
            return self.languages.step(self.home(root), self.given.checkpoint)
        return None

    def examples(self, root: Path, seed: int = 0) -> dict[str, Step]:
        """The steps that prepare the examples of tasks, by task."""
        return self._examples(root, seed if seed in self.data_seeds else 0)

    @cached_method
    def _examples(self, root: Path, seed: int) -> dict[str, Step]:
        home, languages = self.home(root), self.languages
        if isinstance(languages, DerivedLanguages):
            names = dict.fromkeys((*self.tasks, *(m.task for m in self.measures if isinstance(m, ExampleMeasure))))
            return {name: DerivedExamples(languages.of_seed(seed), name).step(home) for name in names}
        source = languages.source if isinstance(languages, NaturalLanguages) else SOURCE
        tasks = {name: its for name, its in self.tasks.items() if its.files}
        return {name: NaturalExamples(name, its, source).step(home) for name, its in tasks.items()}

    def baselines(self, root: Path) -> list[Step]:
        """The steps that need no model of the study: floors of tasks, and word aligners."""
        if not isinstance(self.languages, GoldPairs):
            return [step for seed in self.data_seeds for step in self.floors(root, seed)]
        texts = [self.languages.of_set(name) for name in self.languages.sets]
        aligners = [GoldSetAligner(name, text, self.name) for name in ("diagonal", "fast_align") for text in texts]
        aligners += [GoldSetAligner("encoder", text, self.name, self.encoder) for text in texts if self.encoder]
        return [aligner.step(self.home(root), self.threads) for aligner in aligners]

    def floors(self, root: Path, seed: int) -> list[Step]:
        examples = self.examples(root, seed)
        steps = []
        for name in self.tasks:
            if isinstance(self.languages, DerivedLanguages):
                pairs = [(SOURCE, SOURCE)]
                for other in self.languages.names:
                    pairs += [(SOURCE, other), (other, other), *([(other, SOURCE)] if self.mixtures else [])]
                of = Floors(examples[name], tuple(pairs), self.languages_step(root, seed))
            else:
                assert isinstance(self.languages, NaturalLanguages)
                pairs = [(SOURCE, other) for other in (SOURCE, *self.tasks[name].tests)]
                of = Floors(examples[name], tuple(pairs), source=self.languages.source)
            steps.append(of.step(self.home(root)))
        return steps

    # Models

    def groups(self, root: Path, seed: int) -> list[Group]:
        languages = self.languages
        if isinstance(languages, GoldPairs):
            return [
                Group(text.name, text.step(self.home(root)), text.pair[1:], tuple(Described(c, c) for c in text.pair))
                for text in map(languages.of_set, languages.text)
            ]
        data = self.languages_step(root, seed)
        assert data
        if isinstance(languages, NaturalLanguages):
            described = tuple(Described(name, name) for name in self.named_languages)
            return [Group("", data, tuple(languages.texts), described, self.mixture)]
        transforms = languages.of_seed(seed).transforms
        held_out = self.mixture.held_out
        groups = [
            (mixture.name, self.others(mixture, transforms), replace(mixture, held_out=held_out))
            for mixture in self.mixtures
        ]
        groups = groups or [(each.name, (each,), self.mixture) for each in transforms]
        return [
            Group(name, data, tuple(each.name for each in others), (THE_SOURCE, *map(Described.of, others)), mixture)
            for name, others, mixture in groups
        ]

    def others(self, mixture: Mixture, transforms: tuple[Transform, ...]) -> tuple[Transform, ...]:
        """The derived languages of a mixture: one for each further share, or all."""
        return transforms if mixture.languages is None else transforms[: mixture.languages - 1]

    @property
    def named_languages(self) -> list[str]:
        """The natural languages of the text and of the tests."""
        assert isinstance(self.languages, NaturalLanguages)
        of_tasks = [name for task in self.tasks.values() for name in task.tests]
        same = [name for measure in self.measures if isinstance(measure, Retrieval) for name in measure.same_sentences]
        return list(dict.fromkeys((self.languages.source, *self.languages.texts, *same, *of_tasks)))

    def models(self, root: Path) -> list[Model]:
        """Every model that the study trains, seeds outermost, so that a stopped study has whole seeds."""
        models = []
        for seed in self.seeds if self.objectives else ():
            groups = self.groups(root, seed)
            if self.alone:
                models += [self._described(root, step, (THE_SOURCE,)) for step in self._alone(root, groups[0], seed)]
            models += [
                self._described(root, self.pretraining(root, group, objective, seed), group.described)
                for group in groups
                for objective in self.objectives
            ]
        return models

    def _alone(self, root: Path, group: Group, seed: int) -> Iterator[Step]:
        assert self.alone
        objective, own = self.alone.objective, self.mixture
        mixture = Mixture(held_out=own.held_out, disjoint=own.disjoint)
        for name, train in self.alone.variants(self.train):
            training = Training(group.data, (), objective, self.model, train, seed, mixture=mixture)
            yield training.step(self.home(root) / "alone" / f"{objective.name}-{name}", self.threads)

    def pretraining(
        self, root: Path, group: Group, objective: Objective, seed: int, portion: float | None = None
    ) -> Step:
        """The step that trains an objective on a group, in `portion` of the steps, by default its pace."""
        portion = self.paces.get(objective.name, 1.0) if portion is None else portion
        train, start = self.train_of(objective, portion), self.start_of(root, group, seed)
        if objective.traits.start:
            first, share = objective.traits.start
            start = self.pretraining(root, group, first, seed, portion * share)
        parts = group.data, group.languages, objective, self.model, train, seed, start, group.mixture
        training = Training(*parts, claims=self.claims_digest)
        if self.shipped:
            training = training.unless_shipped(self.shipped)
        above = self.home(root) / group.name / objective.name
        return training.step(above, self.threads)

    def train_of(self, objective: Objective, portion: float | None = None) -> TrainConfig:
        """The training config of an objective in `portion` of the steps, by default its pace, without its start's."""
        portion = self.paces.get(objective.name, 1.0) if portion is None else portion
        steps = round(self.train.steps * portion)
        if objective.traits.start:
            first, share = objective.traits.start
            steps -= self.train_of(first, portion * share).steps
        return replace(self.train, steps=steps)

    def start_of(self, root: Path, group: Group, seed: int) -> Weights | None:
        """The start of a model: the given model, or the step that trains its prediction head."""
        if self.given is None or self.head is None or self.given.has_head:
            return self.given
        objective = HeadOnly(next(objective for objective in self.objectives if objective.traits.predicts))
        data, languages = group.data, group.languages
        parts = data, languages, objective, self.model, self.head, seed, self.given, group.mixture
        training = Training(*parts, claims=self.claims_digest)
        return training.step(self.home(root) / group.name / objective.name, self.threads)

    def given_models(self, root: Path) -> list[Model]:
        """The start as it is, and a copy to fine-tune for each seed, if the report compares models with it."""
        if self.given is None or not self._continues:
            return []
        named = self.named_languages if isinstance(self.languages, NaturalLanguages) else ()
        languages = tuple(Described(name, name) for name in named) or (THE_SOURCE,)
        layers, home = self.model.layers, self.home(root)
        run = Run("", self.name, 0, languages, self._given, layers=layers, main_layer=main_layer(layers))
        tuned = [Model(self.given, replace(run, seed=seed), home, f"{START}/seed-{seed}") for seed in self.seeds]
        return [Model(self.given, run, home, START), *tuned]

    @property
    def _continues(self) -> bool:
        """Whether the report compares a given model with models trained from it."""
        return self.paper == "xtreme"

    @property
    def _given(self) -> Described | None:
        if self.given is None:
            return None
        if self._continues:
            return replace(THE_START, parts=self.given.facets)
        return Described(self.given.fingerprint, self.given.name.name, self.given.facets)

    def _described(self, root: Path, step: Step, languages: tuple[Described, ...]) -> Model:
        training: Training = step.config
        objective, given = training.objective, self._given
        derived = self.languages if isinstance(self.languages, DerivedLanguages) else None
        start = StartOfRun(given, 0.0) if given and training.start else None
        if objective.traits.start:
            first, share = objective.traits.start
            start = StartOfRun(Described.of(first), share)
        run = Run(
            id="",
            study=self.name,
            seed=training.seed,
            languages=languages,
            objective=Described.of(objective),
            start=start,
            layers=self.model.layers,
            main_layer=0 if derived and not self._continues else objective.main_layer(self.model.layers),
            mixture=self._mixture_of(training) if derived else None,
            redrawn=derived.draws if derived else (),
            bitexts=tuple(self.languages.bitexts) if isinstance(self.languages, NaturalLanguages) else (),
        )
        return Model(step, run, self.home(root), mixed=bool(self.mixtures))

    def _mixture_of(self, training: Training) -> Described | None:
        """A model's amounts of each language, as records describe them."""
        if (rows := training.train.batch) != self.train.batch:
            return Described(f"alone-by-{rows}", f"alone, {rows} rows a step", ({"kind": "Batch", "rows": rows},))
        if not training.languages or training.mixture == ALL_TOGETHER:
            return None
        return Described.of(training.mixture)

    # Measures

    def measuring(self, root: Path, model: Model) -> list[Step]:
        """The steps that measure a model as it is and after fine-tuning; the start is fine-tuned by copies only."""
        measures, examples = list[Measure](), self.examples(root, model.about.seed)
        if model.place == START or isinstance(model.weights, Step):
            for measure in self.measures:
                if isinstance(measure, ExampleMeasure):
                    its = self.tasks.get(measure.task)
                    measure = measure.of_study(examples[measure.task], its.finetune if its else None)
                measures += measure.parts()
        if model.place != START:
            measures += self._of_tasks(examples)
        return [measuring(measure, model, self.threads) for measure in measures if measure.applies(model)]

    def _of_tasks(self, examples: Mapping[str, Step]) -> Iterator[Measure]:
        for name, its in self.tasks.items():
            if isinstance(self.languages, DerivedLanguages):
                yield Transfer(examples[name], its.finetune)
                continue
            yield ZeroShot(examples[name], its.finetune)


def _starts(weights: Weights | None) -> Iterator[Step]:
    """The steps that train the chain of a model's starts, the first one first."""
    if isinstance(weights, Step) and isinstance(start := weights.config.start, Step):
        yield from _starts(start)
        yield start
