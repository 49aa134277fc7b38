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

from analysis.records.record import SWITCHED
from analysis.records.run import Described, Run, Start
from analysis.report.table import coverage
from analysis.results.floors import over_draws
from analysis.tasks.catalog import TASKS, task
from analysis.tasks.finetune import FinetuneConfig
from derive.dictionary import DictionaryConfig
from derive.preview import PREVIEW
from derive.source import Source
from derive.transform import Transform
from derive.unknown import shown
from experiments.account import of_pretraining
from experiments.cell import Cell
from experiments.cell_grid import CellGrid, measured_behind
from experiments.derived_study import finetuned_wrongly
from experiments.facts import computed_with, counted, listed
from experiments.step import Step
from experiments.steps.evaluation import (
    Alignment,
    Contextual,
    Evaluation,
    OrderDistance,
    SelfLabels,
    Transfer,
    TranslateTrain,
)
from experiments.steps.forms import UNKNOWN, Forms
from experiments.steps.knowledge import Knowledge
from experiments.steps.languages import DeriveLanguages
from experiments.steps.pretraining import GivenModel, Pretrain
from experiments.steps.sharing import Sharing
from experiments.steps.task_data import DeriveTask
from experiments.study import named_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective


@dataclass(frozen=True)
class TransferGrid(CellGrid):
    """What is derived, pretrained and evaluated, and at which scale.

    `start` is what models begin with, but for those that begin with another of the study: the folder of a checkpoint,
    or the hub's name of one with its revision. `paper` is the one whose tables, figures and claims the report has.
    With `redraw` a seed draws not only the model anew but also what the source, the transforms and the dictionary draw,
    so that intervals over seeds are about other data too. Seed 0 draws what all seeds have without it. `paces` say how
    many steps objectives take, by name, as a multiple of `train.steps`; others take as many as that. `translate_train`
    are further ways to fine-tune: on the examples of both languages (TT), and on pairs with a text of each too (TT-CS).
    """

    name: str
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
    paper: Literal["align_mlm", "xlm_align", "equal_terms"] = "align_mlm"
    redraw: bool = False
    paces: dict[str, float] = field(default_factory=dict)
    translate_train: tuple[Literal["TT", "TT-CS"], ...] = ()

    @property
    def draws(self) -> dict[int, TransferGrid]:
        """The study whose languages and examples the models of each seed have: itself, unless they are redrawn."""
        return {seed: self._drawn(seed) if self.redraw else self for seed in self.seeds}

    def _drawn(self, seed: int) -> TransferGrid:
        return replace(
            self,
            source=self.source.redrawn(seed),
            transforms=tuple(transform.redrawn(seed) for transform in self.transforms),
            dictionary=self.dictionary.redrawn(seed),
            redraw=False,
        )

    @property
    def redrawn(self) -> tuple[str, ...]:
        """What a seed draws anew beside the model, in words."""
        return (*self.source.drawn, *self.dictionary.drawn) if self.redraw else ()

    @cached_property
    def given(self) -> GivenModel | None:
        """The model that `start` names."""
        return GivenModel(self.start) if self.start else None

    @property
    def scale(self) -> str:
        return super().scale + "; not all objectives with as many steps" * any(
            pace != 1 for pace in self.paces.values()
        )

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.finetune)

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

    def pace(self, objective: Objective) -> float:
        return self.paces.get(objective.name, 1.0)

    def evaluations(self, run: Pretrain, examples: Sequence[DeriveTask]) -> list[Evaluation]:
        """The steps that measure a cell's model."""
        measures: list[Evaluation] = [kind(run) for kind in (OrderDistance, SelfLabels, Contextual, Alignment, Sharing)]
        if self.source.questions():
            measures.append(Knowledge(run))
        measures.append(Forms(run, self._drawn(run.seed).source if self.redraw else self.source))
        for (name, config), each in zip(self.finetune.items(), examples, strict=True):
            its = task(name)
            measures.append(Transfer(run, its, config, each))
            ways = [way for way in self.translate_train if way != SWITCHED or its.of_pairs]
            measures += [TranslateTrain(run, its, config, each, way) for way in ways]
        return measures

    def steps(self, root: Path) -> list[Step]:
        languages, examples = self._languages(root), self._examples(root)
        steps: list[Step] = []
        for draw in self._apart():
            steps += [draw.languages(root), *draw.examples(root), *draw.floors(root)]
        steps += [self.pretraining(languages[cell.seed], cell) for cell in self.starts]
        runs = [self.pretraining(languages[cell.seed], cell) for cell in self.cells]
        return steps + measured_behind([(run, self.evaluations(run, examples[run.seed])) for run in runs])

    def _apart(self) -> list[TransferGrid]:
        """The studies whose data differ."""
        return list(self.draws.values()) if self.redraw else [self]

    def _languages(self, root: Path) -> dict[int, DeriveLanguages]:
        """By seed; one object for all, unless they are redrawn, for it remembers what it read of files."""
        same = self.languages(root)
        return {seed: draw.languages(root) if self.redraw else same for seed, draw in self.draws.items()}

    def _examples(self, root: Path) -> dict[int, list[DeriveTask]]:
        same = self.examples(root)
        return {seed: draw.examples(root) if self.redraw else same for seed, draw in self.draws.items()}

    def of_derivation(self, root: Path) -> list[str]:
        if not self.redraw:
            return super().of_derivation(root)
        return [f"seed {seed}: {line}" for seed, draw in self.draws.items() for line in draw.of_derivation(root)]

    def account(self, root: Path) -> list[str]:
        if not self.redraw:
            return super().account(root)
        return [f"seed {seed}: {line}" for seed, draw in self.draws.items() for line in draw.account(root)]

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.report import write_report

        languages, examples = self._languages(root), self._examples(root)
        runs = [self.pretraining(languages[cell.seed], cell) for cell in self.cells]
        first = languages[self.seeds[0]]
        return write_report(
            self.name,
            self.scale,
            self.paper,
            [self.run_of(cell, run.folder.name) for cell, run in zip(self.cells, runs, strict=True)],
            [row for run in runs for one in self.evaluations(run, examples[run.seed]) for row in one.read()],
            folder,
            floors=over_draws([row for step in draw.floors(root) for row in step.read()] for draw in self._apart()),
            preview=first.open().path(PREVIEW).read_text(encoding="utf-8"),
            exclusions=[*self.of_derivation(root), *of_pretraining(runs), *self._not_measured],
            facts=self._facts(list(dict.fromkeys(one.fingerprint for one in languages.values())), runs[0]),
        )

    @property
    def _not_measured(self) -> list[str]:
        """What the source does not have, so that no record tells of it."""
        return [] if self.source.lemma_fingerprint() else [UNKNOWN]

    def run_of(self, cell: Cell, name: str) -> Run:
        """A cell's model as its records know it, made in the folder `name`."""
        model = self.given
        given = Start(Described(model.fingerprint, model.name.name, model.facets), 0.0) if model else None
        drawn = replace(cell, transform=cell.transform.redrawn(cell.seed)) if self.redraw else cell
        run = drawn.run(name, study=self.name, layers=self.model.layers, given=given)
        return replace(run, redrawn=self.redrawn)

    def _facts(self, languages: Sequence[str], first: Pretrain) -> list[tuple[str, str]]:
        run = first.open().facts["identity"]
        paces = [f"{name} {pace:g}" for name, pace in self.paces.items()]
        return [
            *([("Steps, as a multiple of training's", ", ".join(paces))] if paces else []),
            ("Seeds", ", ".join(map(str, self.seeds))),
            ("Intervals", coverage(self.seeds, self.redrawn)),
            ("Model", listed(run["model"])),
            ("Training", listed(run["train"])),
            ("Dictionary", f"{self.dictionary.fraction:.0%} of the types, by {self.dictionary.by}"),
            ("Languages", f"{', '.join(languages)} (fingerprint of the derived data)"),
            *computed_with(run["threads"], run["device"]),
        ]

    def mistakes(self) -> list[str]:
        wrong = super().mistakes()
        wrong += finetuned_wrongly(self.finetune) + named_wrongly("finetune", list(self.finetune))
        wrong += self.given.mistakes(self.model) if self.given else []
        wrong += named_wrongly("translate_train", list(self.translate_train), least=0)
        if SWITCHED in self.translate_train and not any(task(name).of_pairs for name in self.finetune if name in TASKS):
            wrong.append(f"translate_train: {SWITCHED} is of examples with two texts, and no task here has such")
        known = [objective.name for objective in self.objectives]
        wrong += [f"paces: there is no objective {shown(name)} here" for name in self.paces if name not in known]
        wrong += [f"paces.{name} is above 0, not {pace:g}" for name, pace in self.paces.items() if pace <= 0]
        if any(pace <= 0 for pace in self.paces.values()):
            return wrong  # no schedule can be made of them
        if self.redraw and not self.redrawn:
            wrong.append(
                "redraw: nothing but the model is drawn at random here: text and examples are read from files, and the "
                "dictionary has the most frequent types, or all, or none"
            )
        return [*wrong, *self.mistaken_portions()]
