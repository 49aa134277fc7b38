"""The study of natural languages: a given encoder, pretrained further or not, and measured before and after.

<root>/<study>/languages-<fp>/                            text and bitexts as ids of the encoder's tokenizer
<root>/<study>/tasks/<task>-<fp>/                         a task's annotated sentences
<root>/<study>/floors/<task>-<fp>/                        what baselines without a model score on them
<root>/<study>/start/<measure>-<fp>/                      records of the encoder as it is
<root>/<study>/start/seed-<k>/<task>-<fp>/                its records of a task, fine-tuned with a seed
<root>/<study>/<objective>-head/seed-<k>-<fp>/            the start with a prediction head, where it had none
<root>/<study>/<objective>/seed-<k>-<fp>/                 a pretraining run
<root>/<study>/<objective>/seed-<k>-<fp>/<measure>-<fp>/  its records
<root>/<study>/report/                                    records, tables, figures, report.html
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.aligners.encoder import main_layer
from analysis.records.run import Described, Run
from analysis.records.run import Start as Begun
from derive.languages import SOURCE
from derive.vocabulary import GivenVocabulary
from experiments.account import of_gold, of_measures, of_natural, of_natural_task, of_pretraining
from experiments.facts import counted
from experiments.gold_text import GoldText
from experiments.natural_facts import natural_facts
from experiments.natural_mistakes import mistakes_of
from experiments.natural_values import NaturalValues
from experiments.planning.text import TextPlan
from experiments.step import Step, with_needs
from experiments.steps.floors import NaturalFloors
from experiments.steps.natural_data import NaturalTask, NaturalText, pair_of
from experiments.steps.natural_measures import GoldErrors, NaturalMeasure, SentenceRetrieval, ZeroShot
from experiments.steps.pretraining import GivenModel, Pretrain, Start
from pretrain.config import TrainConfig
from pretrain.objective import Objective
from pretrain.objectives.head_only import HeadOnly

START_FOLDER = "start"
START = Described(START_FOLDER, "the start")
"""The encoder as it is, as records know it."""


@dataclass(frozen=True)
class Natural(NaturalValues):
    """What is computed of the values, in which order."""

    @property
    def scale(self) -> str:
        shape, train = self.model, self.train
        layers = f"{counted(shape.layers, 'layer')} of width {shape.hidden}"
        if not self.objectives:
            files = [its.files for its in self.tasks.values()]
            most = max((one.limit for one in files), default=0), max((one.tested for one in files), default=0)
            named = zip(most, ("training examples", "test items of a language"), strict=True)
            samples = " and ".join(f"{many:,} {what}" for many, what in named if many)
            return f"{layers}, at most {samples}" if samples else layers
        return f"{layers}, {train.steps:,} steps of {train.batch:,} rows of {shape.length}"

    @property
    def extent(self) -> str:
        ids = self.train.steps * self.train.batch * self.model.length
        trained = (
            f"{counted(len(self.objectives) * len(self.seeds), 'model')} of {self.train.steps:,} steps of "
            f"{self.train.batch} x {self.model.length} ids ({ids / 1e6:,.1f} M) in {len(self.texts)} languages, from "
            f"{self.start}; they and the start are"
        )
        measured = [
            *self.sets,
            *([f"{len(self.same_sentences)} languages of the same sentences"] if self.same_sentences else []),
            *(f"{name} in {counted(len(its.tests) + 1, 'language')}" for name, its in self.tasks.items()),
        ]
        return f"{trained if self.objectives else f'{self.start} is'} measured on {', '.join(measured)}"

    def text(self, root: Path) -> NaturalText:
        """The step that reads text and bitexts."""
        vocabulary = GivenVocabulary(self.begun.checkpoint)
        return NaturalText(
            self.home(root),
            self.texts,
            self.bitexts,
            vocabulary,
            self.withheld,
            self.table,
            self.types,
            self.dictionaries,
        )

    def examples(self, root: Path) -> list[NaturalTask]:
        """The steps that make the tasks' examples, in their order."""
        home, tasks = self.home(root), self.tasks.items()
        return [
            NaturalTask(home, name, its.files, its.tests, its.devs, its.translations, its.sizes, self.source)
            for name, its in tasks
        ]

    def floors(self, root: Path) -> list[NaturalFloors]:
        """The steps that score baselines which learn what models are fine-tuned on."""
        made = []
        for step in self.examples(root):
            pairs = tuple((SOURCE, name) for name in (SOURCE, *step.tests))
            made.append(NaturalFloors(self.home(root), step.task, pairs, step, self.source))
        return made

    def with_head(self, root: Path, seed: int) -> Pretrain | GivenModel:
        """What runs of a seed begin with: the start, or the step that gives it a prediction head."""
        if self.head is None or self.begun.has_head:
            return self.begun
        predicting = next(objective for objective in self.objectives if objective.predicts)
        return self._run(root, HeadOnly(predicting), seed, self.head, self.begun)

    def pretraining(self, root: Path, objective: Objective, seed: int) -> Pretrain:
        """The step that trains an objective."""
        return self._run(root, objective, seed, self.train, self.with_head(root, seed))

    def _run(self, root: Path, objective: Objective, seed: int, train: TrainConfig, start: Start) -> Pretrain:
        return Pretrain(
            above=self.home(root) / objective.name,
            data=self.text(root),
            languages=tuple(self.texts),
            objective=objective,
            model=self.model,
            train=train,
            seed=seed,
            threads=self.threads,
            start=start,
            mixture=self.mixture,
        )

    def trained_models(self, root: Path) -> list[tuple[Pretrain, Run]]:
        """Every model that is pretrained further, as records know it, by seed."""
        made = []
        for seed in self.seeds:
            for objective in self.objectives:
                run = self.pretraining(root, objective, seed)
                known = self._described(f"{objective.name}/{run.folder.name}", Described.of(objective), seed)
                read = tuple(map(pair_of, self.bitexts))
                made.append((run, replace(known, start=Begun(self._begun, 0.0), bitexts=read)))
        return made

    @property
    def _begun(self) -> Described:
        return replace(START, parts=self.begun.facets)

    def _described(self, name: str, learnt: Described, seed: int) -> Run:
        return Run(
            id=name,
            study=self.name,
            seed=seed,
            languages=tuple(Described(language, language) for language in self._languages),
            objective=learnt,
            layers=self.model.layers,
            main_layer=main_layer(self.model.layers),
        )

    @property
    def _languages(self) -> list[str]:
        """Those that are read, and those that are tested."""
        tested = (name for its in self.tasks.values() for name in (*its.tests, *its.devs))
        return list(dict.fromkeys((self.source, *self.texts, *self.same_sentences, *tested)))

    def measures(self, root: Path) -> list[NaturalMeasure]:
        """The steps that measure each model, the start first: as it is, and fine-tuned with each seed."""
        begun, above = self.begun, self.home(root) / START_FOLDER
        steps = self._inner(begun, self._described(START_FOLDER, self._begun, 0), above)
        for seed in self.seeds:
            name = f"seed-{seed}"
            steps += self._tuned(
                root, begun, self._described(f"{START_FOLDER}/{name}", self._begun, seed), above / name
            )
        for model, run in self.trained_models(root):
            steps += [*self._inner(model, run, model.folder), *self._tuned(root, model, run, model.folder)]
        return steps

    def _inner(self, model: Start, run: Run, above: Path) -> list[NaturalMeasure]:
        """What is measured of a model's own states."""
        common: dict[str, Any] = {"model": model, "run": run, "above": above, "threads": self.threads}
        steps: list[NaturalMeasure] = [GoldErrors(**common, text=text, aligners=self.aligners) for text in self._gold]
        return steps + ([SentenceRetrieval(**common, treebanks=self.same_sentences)] if self.same_sentences else [])

    def _tuned(self, root: Path, model: Start, run: Run, above: Path) -> list[NaturalMeasure]:
        """What is measured of it after fine-tuning."""
        examples = self.examples(root)
        return [
            ZeroShot(
                model=model,
                run=run,
                above=above,
                threads=self.threads,
                examples=step,
                source=self.source,
                configs=self.tasks[step.task].configs,
                way=way,
                also=tuple(other for other in examples if self.tasks[other.task].learnt_as == step.task),
                on_curve=bool(self.tasks[step.task].sizes),
                sample=sample,
            )
            for step in examples
            if not self.tasks[step.task].learnt_as
            for way in self.tasks[step.task].ways
            for sample in (*self.tasks[step.task].sizes, 0)
        ]

    @property
    def _gold(self) -> list[GoldText]:
        return [GoldText(self.gold, name) for name in self.sets]

    def steps(self, root: Path) -> list[Step]:
        # The start is measured first, so that gold links which cannot be read are told before hours of training.
        text = [self.text(root)] if self.objectives else []
        return with_needs([*text, *self.examples(root), *self.floors(root), *self.measures(root)])

    def trained(self) -> list[Step]:
        runs = [self.pretraining(Path(), objective, seed) for seed in self.seeds for objective in self.objectives]
        heads = [self.with_head(Path(), seed) for seed in self.seeds] if self.head and self.objectives else []
        return [*(head for head in heads if isinstance(head, Pretrain)), *runs]

    def reading(self) -> TextPlan | None:
        if self.sizes is None or not self.objectives:
            return None
        ids = self.train.steps * self.train.batch * self.model.length
        return TextPlan(self.sizes.of(self.texts, self.bitexts), ids, self.mixture)

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.report import write_report

        measures = self.measures(root)
        measured = [step.read() for step in measures]
        runs = [run for run, _ in self.trained_models(root)]
        return write_report(
            self.name,
            self.scale,
            "continued",
            list({step.run.id: step.run for step in measures}.values()),
            [record for one in measured for record in one.records],
            folder,
            floors=[floor for step in self.floors(root) for floor in step.read()],
            exclusions=[*self._of_data(root), *of_pretraining(runs), *of_measures(measures, measured)],
            facts=natural_facts(self, self.text(root).rows if runs else 0, runs, measures),
        )

    def _of_data(self, root: Path) -> list[str]:
        text = of_natural(self.text(root).open().facts) if self.objectives else ()
        tasks = (of_natural_task(step.task, step.open().facts) for step in self.examples(root))
        return [*text, *chain.from_iterable(tasks), *of_gold(self._gold)]

    def account(self, root: Path) -> list[str]:
        return [*self._of_data(root), *(str(step.folder) for step in self.in_stages(root, ["derive"]))]

    def mistakes(self) -> list[str]:
        return mistakes_of(self)
