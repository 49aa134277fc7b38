"""The study of mixtures: models of several languages in equal and unequal amounts, beside models of the source alone.

<root>/<study>/languages-<fp>/                                  the derived languages
<root>/<study>/tasks/<task>-<fp>/                               a task's examples in them
<root>/<study>/floors/<task>-<fp>/                              what baselines without a model score on them
<root>/<study>/<mixture>/<objective>/seed-<k>-<fp>/             a pretraining run
<root>/<study>/alone/<objective>-of-<steps>/seed-<k>-<fp>/      the source alone, for fewer steps and all of them
<root>/<study>/alone/<objective>-by-<rows>/seed-<k>-<fp>/       the source alone, for all steps of fewer rows
<root>/<study>/.../seed-<k>-<fp>/<measure>-<fp>/                records of a measure, or of a task
<root>/<study>/report/                                          records, tables, figure, report.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

from analysis.records.run import Described, Run
from analysis.tasks.finetune import FinetuneConfig
from derive.derived_folder import SOURCE
from derive.dictionary import DictionaryConfig
from derive.preview import PREVIEW
from derive.source import Source
from derive.transform import Transform
from experiments.account import of_pretraining
from experiments.cell import SOURCE as THE_SOURCE
from experiments.derived_study import DerivedStudy, finetuned_wrongly
from experiments.facts import computed_with, counted, listed
from experiments.step import Step
from experiments.steps.evaluation import Evaluation
from experiments.steps.languages import DeriveLanguages
from experiments.steps.pairs import Pair, PairAlignment, PairLinks, PairTransfer, Reading
from experiments.steps.pretraining import Pretrain
from experiments.steps.task_data import DeriveTask
from experiments.study import begun_elsewhere, begun_with_nothing, masked_wrongly, named_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.mixture import Mixture
from pretrain.objective import Objective

PAPER = "language_imbalance"
"""Whose tables, figures and claims the report has."""
ALONE = "alone"
"""The folder of models of the source alone, whose held-out loss others' are held against."""


@dataclass(frozen=True)
class MixtureGrid(DerivedStudy):
    """What is derived, pretrained in which mixtures, and evaluated between which languages.

    A mixture of n languages has the source and the first n - 1 of `transforms`; one that does not say how many has all
    of them. Models of the source alone learn by `alone` for the fractions `budgets` of the steps, warm-up in
    proportion, and for all steps in the smaller batches `batches`, with each of the seeds. `held_out` is the share of
    the text that no model reads. `exponent` makes all shares less unequal, or more: each to this power. AER is measured
    on pairs of languages where `links` says so.
    """

    name: str
    source: Source
    transforms: tuple[Transform, ...]
    mixtures: tuple[Mixture, ...]
    objectives: tuple[Objective, ...]
    alone: Objective
    budgets: tuple[float, ...]
    batches: tuple[int, ...]
    seeds: tuple[int, ...]
    vocabulary: int | Path
    finetune: dict[str, FinetuneConfig]
    held_out: float = 0.01
    exponent: float = 1.0
    links: bool = False
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.finetune)

    def others(self, mixture: Mixture) -> tuple[Transform, ...]:
        """The languages of a mixture beside the source."""
        given = mixture.languages
        return self.transforms if given is None else self.transforms[: given - 1]

    def pairs(self, mixture: Mixture) -> tuple[Pair, ...]:
        """All ordered pairs of a mixture's languages."""
        return tuple(permutations((SOURCE, *(transform.name for transform in self.others(mixture))), 2))

    def transfers(self, mixture: Mixture) -> tuple[Pair, ...]:
        """The pairs between which a task is transferred: the source and each other language, both ways, and itself."""
        names = [transform.name for transform in self.others(mixture)]
        from_source = [(SOURCE, SOURCE), *((SOURCE, name) for name in names)]
        return (*from_source, *(pair for name in names for pair in ((name, SOURCE), (name, name))))

    def floor_pairs(self, name: str) -> tuple[Pair, ...]:
        return (*super().floor_pairs(name), (name, SOURCE))

    @property
    def cells(self) -> list[tuple[Mixture, Objective, int]]:
        """Every model of several languages, seeds outermost: a study that is stopped has whole seeds."""
        return [(m, objective, seed) for seed in self.seeds for m in self.mixtures for objective in self.objectives]

    @property
    def extent(self) -> str:
        train, ids = self.train, self.train.steps * self.train.batch * self.model.length
        return (
            f"{counted(len(self.cells), 'model')} of {', '.join(mixture.title for mixture in self.mixtures)}, of "
            f"{train.steps:,} steps of {train.batch} x {self.model.length} ids ({ids / 1e6:,.0f} M), each evaluated on "
            f"{', '.join(self.finetune) or 'no task'}; {(len(self.budgets) + len(self.batches)) * len(self.seeds)} of "
            f"the source alone, {', '.join(f'{steps:,}' for steps in self.alone_steps)} steps"
            + (f", or batches of {', '.join(map(str, self.batches))}" if self.batches else "")
        )

    @property
    def alone_steps(self) -> list[int]:
        """The steps of the models of the source alone."""
        return [max(1, round(budget * self.train.steps)) for budget in self.budgets]

    def read(self, mixture: Mixture) -> Mixture:
        """A mixture as models read it: without held-out text, and with shares to the study's power."""
        phases = (
            replace(phase, shares=tuple(share**self.exponent if share else 0.0 for share in phase.shares))
            for phase in mixture.phases
        )
        powered = mixture if self.exponent == 1 else replace(mixture, phases=tuple(phases))
        return replace(powered, held_out=self.held_out)

    def together(self, root: Path, mixture: Mixture, objective: Objective, seed: int) -> Pretrain:
        """The step that pretrains a model of several languages."""
        return Pretrain(
            above=self.home(root) / mixture.name / objective.name,
            data=self.languages(root),
            languages=tuple(transform.name for transform in self.others(mixture)),
            objective=objective,
            model=self.model,
            train=self.train,
            seed=seed,
            threads=self.threads,
            mixture=self.read(mixture),
        )

    def apart(self, root: Path, steps: int, seed: int, batch: int | None = None) -> Pretrain:
        """The step that pretrains a model of the source alone, for so many steps, or of so many rows each."""
        name = f"of-{steps}" if batch is None else f"by-{batch}"
        return Pretrain(
            above=self.home(root) / ALONE / f"{self.alone.name}-{name}",
            data=self.languages(root),
            languages=(),
            objective=self.alone,
            model=self.model,
            train=replace(self.for_steps(steps), batch=batch or self.train.batch),
            seed=seed,
            threads=self.threads,
            mixture=Mixture(held_out=self.held_out),
        )

    def for_steps(self, steps: int) -> TrainConfig:
        """The same training in fewer steps."""
        return replace(self.train, steps=steps, warmup=self.train.warmup * steps // self.train.steps)

    def evaluations(self, run: Pretrain, mixture: Mixture, examples: Sequence[DeriveTask]) -> list[Evaluation]:
        """The steps that measure a model of several languages."""
        from analysis.tasks.catalog import task

        pairs, tasks = self.pairs(mixture), zip(self.finetune.items(), examples, strict=True)
        return [
            Reading(run),
            PairAlignment(run, pairs),
            *([PairLinks(run, pairs)] if self.links else []),
            *(PairTransfer(run, self.transfers(mixture), task(name), config, each) for (name, config), each in tasks),
        ]

    def measured(self, root: Path) -> list[tuple[Pretrain, Mixture | None, list[Evaluation]]]:
        """Every run with its mixture (none of the source alone) and the steps that measure it."""
        examples = self.examples(root)
        made: list[tuple[Pretrain, Mixture | None, list[Evaluation]]] = []
        for seed in self.seeds:
            alone = [self.apart(root, steps, seed) for steps in self.alone_steps]
            alone += [self.apart(root, self.train.steps, seed, batch) for batch in self.batches]
            made += [(run, None, [Reading(run)]) for run in alone]
            for mixture in self.mixtures:
                runs = [self.together(root, mixture, objective, seed) for objective in self.objectives]
                made += [(run, mixture, self.evaluations(run, mixture, examples)) for run in runs]
        return made

    def steps(self, root: Path) -> list[Step]:
        steps: list[Step] = [self.languages(root), *self.examples(root), *self.floors(root)]
        for run, _, evaluations in self.measured(root):
            steps += [run, *evaluations]
        return steps

    def run_of(self, run: Pretrain, mixture: Mixture | None) -> Run:
        """A model as its records know it."""
        others, batch = self.others(mixture) if mixture else (), run.train.batch
        read = Described.of(self.read(mixture)) if mixture else None
        if batch != self.train.batch:
            read = Described(f"alone-by-{batch}", f"alone, {batch} rows a step", ({"kind": "Batch", "rows": batch},))
        return Run(
            id=run.folder.name,
            study=self.name,
            seed=run.seed,
            languages=(THE_SOURCE, *map(Described.of, others)),
            objective=Described.of(run.objective),
            layers=self.model.layers,
            mixture=read,
        )

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.report import write_report

        languages, measured = self.languages(root), self.measured(root)
        return write_report(
            self.name,
            self.scale,
            PAPER,
            [self.run_of(run, mixture) for run, mixture, _ in measured],
            [row for _, _, evaluations in measured for one in evaluations for row in one.read()],
            folder,
            floors=[row for step in self.floors(root) for row in step.read()],
            preview=languages.open().path(PREVIEW).read_text(encoding="utf-8"),
            exclusions=[*self.of_derivation(root), *of_pretraining(run for run, _, _ in measured)],
            facts=self._facts(languages, measured[-1][0]),
        )

    def _facts(self, languages: DeriveLanguages, run: Pretrain) -> list[tuple[str, str]]:
        made = run.open().facts["identity"]
        return [
            ("Seeds", ", ".join(map(str, self.seeds))),
            ("Model", listed(made["model"])),
            ("Training", listed(made["train"])),
            ("The source alone", ", ".join(f"{steps:,}" for steps in self.alone_steps) + " steps"),
            ("The source alone, all steps", ", ".join(map(str, self.batches or ("–",))) + " rows a step"),
            ("Held out", f"the last {self.held_out:.1%} of the sentences"),
            ("Dictionary", f"{self.dictionary.fraction:.0%} of the types, by {self.dictionary.by}"),
            ("Languages", f"{languages.fingerprint} (fingerprint of the derived data)"),
            *computed_with(made["threads"], made["device"]),
        ]

    @property
    def _rows(self) -> int:
        """Of all steps of a model."""
        return self.train.steps * self.train.batch

    def mistakes(self) -> list[str]:
        wrong = super().mistakes() + finetuned_wrongly(self.finetune)
        wrong += named_wrongly("mixtures", [mixture.name for mixture in self.mixtures])
        wrong += named_wrongly("alone", [self.alone.name]) + self.alone.mistakes(self.model)
        wrong += masked_wrongly("alone", self.alone)
        wrong += begun_elsewhere((*self.objectives, self.alone)) + begun_with_nothing((*self.objectives, self.alone))
        for mixture in self.mixtures:
            others = self.others(mixture)
            if mixture.languages is not None and mixture.languages - 1 > len(self.transforms):
                wrong.append(
                    f"mixtures: {mixture.name} is of {mixture.languages} languages, and there are "
                    f"{1 + len(self.transforms)}"
                )
            else:
                mistakes = mixture.mistakes(1 + len(others))
                powered = not mistakes and self._rows > 0 and 0 <= self.exponent <= 10
                if powered and self.read(mixture).least * self._rows < 1:
                    mistakes = [f"a language with none of all {self._rows:,} rows; leave it out of the model"]
                wrong += [f"mixtures: {mixture.name}: {mistake}" for mistake in mistakes]
            if not others:
                wrong.append(f"mixtures: {mixture.name} is of one language; expected two or more")
        if sorted(set(self.alone_steps)) != self.alone_steps or len(self.budgets) < 2 or self.budgets[-1] != 1:
            wrong.append(f"budgets are two or more ascending fractions of the steps, the last 1, not {self.budgets}")
        elif self.budgets[0] <= 0:
            wrong.append(f"budgets are above 0, not {self.budgets[0]}")
        if list(self.batches) != sorted(set(self.batches)) or not all(0 < n < self.train.batch for n in self.batches):
            wrong.append(
                f"batches are ascending numbers of rows below train.batch ({self.train.batch}), not {self.batches}"
            )
        wrong += [
            f"batches: grad_accumulation ({self.train.grad_accumulation:,}) is at most a batch, not above {rows:,}"
            for rows in self.batches
            if rows < self.train.grad_accumulation
        ]
        if not 0 < self.held_out < 1:
            wrong.append(f"held_out is a fraction of the text, above 0 and below 1, not {self.held_out}")
        if not 0 <= self.exponent <= 10:
            wrong.append(f"exponent is from 0 to 10, not {self.exponent}")
        return wrong
