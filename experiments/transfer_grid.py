"""The study of transfer: every transform with every objective and seed, evaluated on every task.

<root>/<study>/languages-<fp>/                                  the derived languages
<root>/<study>/tasks/<task>-<fp>/                               a task's examples in them
<root>/<study>/floors/<task>-<fp>/                              what baselines without a model score on them
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/            a pretraining run
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/<measure>-<fp>/   records of a measure, or of a task
<root>/<study>/report/                                          records, tables, figures, report.html
<root>/cache/                                                   grammars that were learnt, trees that were parsed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from analysis.records.run import Described, Run, Start
from analysis.tasks.finetune import FinetuneConfig
from derive.dictionary import DictionaryConfig
from derive.preview import PREVIEW
from derive.source import Source
from derive.transform import Transform
from experiments.account import of_pretraining
from experiments.cell import Cell
from experiments.derived_study import DerivedStudy
from experiments.facts import computed_with, counted, listed
from experiments.step import Step
from experiments.steps.evaluation import Alignment, Contextual, Evaluation, OrderDistance, SelfLabels, Transfer
from experiments.steps.languages import DeriveLanguages
from experiments.steps.pretraining import GivenModel, Pretrain
from experiments.steps.task_data import DeriveTask
from experiments.study import named_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective


@dataclass(frozen=True)
class TransferGrid(DerivedStudy):
    """What is derived, pretrained and evaluated, and at which scale.

    `start` is what models begin with, but for those that begin with another of the study: the folder of a checkpoint,
    or the hub's name of one with its revision. `paper` is the one whose tables, figures and claims the report has.
    """

    name: str
    scale: str
    source: Source
    transforms: tuple[Transform, ...]
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    vocabulary: int | Path
    finetune: dict[str, FinetuneConfig]
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1
    start: Path | None = None
    paper: Literal["align_mlm", "xlm_align"] = "align_mlm"

    @property
    def cells(self) -> list[Cell]:
        """Every model, seeds outermost: a study that is stopped has whole seeds."""
        return [
            Cell(transform, objective, seed)
            for seed in self.seeds
            for transform in self.transforms
            for objective in self.objectives
        ]

    @property
    def starts(self) -> list[Cell]:
        """Every model that a cell begins with, once."""
        return list(dict.fromkeys(start for cell in self.cells if (start := cell.start)))

    @cached_property
    def given(self) -> GivenModel | None:
        """The model that `start` names."""
        return GivenModel(self.start) if self.start else None

    def train_of(self, cell: Cell) -> TrainConfig:
        """How a cell is trained: with its start it takes as many steps as any other."""
        steps = round(self.train.steps * cell.portion)
        return replace(self.train, steps=steps - (self.train_of(cell.start).steps if cell.start else 0))

    @property
    def extent(self) -> str:
        train, ids = self.train, self.train.steps * self.train.batch * self.model.length
        rows = self.languages(Path()).rows
        began = f"; {len(self.starts)} more runs make what some of them begin with, at the cost of their steps"
        return (
            f"{counted(len(self.cells), 'model')} of {train.steps:,} steps of {train.batch} x {self.model.length} ids "
            f"({ids / 1e6:,.0f} M) with {rows:,} types, each evaluated on {', '.join(self.finetune)}"
            f"{began if self.starts else ''}"
        )

    def pretraining(self, languages: DeriveLanguages, cell: Cell) -> Pretrain:
        """The step that pretrains a cell's model."""
        return Pretrain(
            above=languages.home / cell.transform.name / cell.objective.name,
            data=languages,
            languages=(cell.transform.name,),
            objective=cell.objective,
            model=self.model,
            train=self.train_of(cell),
            seed=cell.seed,
            threads=self.threads,
            start=self._begun(languages, cell),
        )

    def _begun(self, languages: DeriveLanguages, cell: Cell) -> Pretrain | GivenModel | None:
        """The model that a cell's begins with."""
        if cell.start:
            return self.pretraining(languages, cell.start)
        return self.given

    def evaluations(self, run: Pretrain, examples: Sequence[DeriveTask]) -> list[Evaluation]:
        """The steps that measure a cell's model."""
        from analysis.tasks.catalog import task

        measures = [kind(run) for kind in (OrderDistance, SelfLabels, Contextual, Alignment)]
        tasks = zip(self.finetune.items(), examples, strict=True)
        return [*measures, *(Transfer(run, task(name), config, each) for (name, config), each in tasks)]

    def steps(self, root: Path) -> list[Step]:
        languages = self.languages(root)
        examples = self.examples(root)
        steps: list[Step] = [languages, *examples, *self.floors(root)]
        steps += [self.pretraining(languages, cell) for cell in self.starts]
        for cell in self.cells:
            run = self.pretraining(languages, cell)
            steps += [run, *self.evaluations(run, examples)]
        return steps

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.grid_report import Outcome, write_grid_report

        languages, examples = self.languages(root), self.examples(root)
        runs = [self.pretraining(languages, cell) for cell in self.cells]
        outcome = Outcome(
            study=self.name,
            scale=self.scale,
            paper=self.paper,
            runs=[self.run_of(cell, run.folder.name) for cell, run in zip(self.cells, runs, strict=True)],
            records=[row for run in runs for one in self.evaluations(run, examples) for row in one.read()],
            floors=[row for step in self.floors(root) for row in step.read()],
            preview=languages.open().path(PREVIEW).read_text(encoding="utf-8"),
            dropped=[*self.of_derivation(root), *of_pretraining(runs)],
            facts=self._facts(languages, runs[0]),
        )
        return write_grid_report(outcome, folder)

    def run_of(self, cell: Cell, name: str) -> Run:
        """A cell's model as its records know it, made in the folder `name`."""
        given = Start(Described(self.given.fingerprint, self.given.name.name), 0.0) if self.given else None
        return cell.run(name, study=self.name, layers=self.model.layers, given=given)

    def _facts(self, languages: DeriveLanguages, first: Pretrain) -> list[tuple[str, str]]:
        run = first.open().facts["identity"]
        return [
            ("Seeds", ", ".join(map(str, self.seeds))),
            ("Model", listed(run["model"])),
            ("Training", listed(run["train"])),
            ("Dictionary", f"{self.dictionary.fraction:.0%} of the types, by {self.dictionary.by}"),
            ("Languages", f"{languages.fingerprint} (fingerprint of the derived data)"),
            *computed_with(run["threads"], run["device"]),
        ]

    def mistakes(self) -> list[str]:
        wrong = super().mistakes()
        wrong += named_wrongly("finetune", list(self.finetune))
        wrong += self.given.mistakes(self.model) if self.given else []
        wrong += dict.fromkeys(
            f"{cell.objective.name}, of {train.steps} steps: train.{mistake}"
            for cell in (*self.starts, *self.cells)
            if (train := self.train_of(cell)) != self.train
            for mistake in train.mistakes()
        )
        return wrong
