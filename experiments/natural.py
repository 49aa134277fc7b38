"""The study of natural languages: a given encoder pretrained further, and measured before and after.

<root>/<study>/languages-<fp>/                            text and bitexts as ids of the encoder's tokenizer
<root>/<study>/tasks/<task>-<fp>/                         a task's annotated sentences
<root>/<study>/floors/<task>-<fp>/                        what baselines without a model score on them
<root>/<study>/start/<measure>-<fp>/                      records of the encoder as it is
<root>/<study>/<objective>-head/seed-<k>-<fp>/            the start with a prediction head, where it had none
<root>/<study>/<objective>/seed-<k>-<fp>/                 a pretraining run
<root>/<study>/<objective>/seed-<k>-<fp>/<measure>-<fp>/  its records
<root>/<study>/report/                                    records, tables, figures, report.html
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.aligners.encoder import main_layer
from analysis.aligners.methods import BY_NAME, DEFAULT, OT, RELEASED
from analysis.measures.gold import SETS
from analysis.records.run import Described, Run
from analysis.records.run import Start as Begun
from analysis.tasks.finetune import FinetuneConfig
from derive.bpe import SMALLEST
from derive.languages import SOURCE
from derive.natural.bitext import BitextFiles
from derive.natural.build import Rows
from derive.natural.text import TextFiles
from derive.sources.files import TaskFiles
from derive.unknown import shown
from derive.vocabulary import GivenVocabulary
from experiments.account import of_gold, of_measures, of_natural, of_natural_task, of_pretraining
from experiments.facts import computed_with, counted, listed
from experiments.gold_text import GoldText
from experiments.planning.text import TextPlan, TextSizes
from experiments.step import Step, with_needs
from experiments.steps.floors import NaturalFloors
from experiments.steps.natural_data import NaturalTask, NaturalText, pair_of
from experiments.steps.natural_measures import GoldErrors, NaturalMeasure, SentenceRetrieval, ZeroShot
from experiments.steps.pretraining import GivenModel, Pretrain, Start
from experiments.study import Study, begun_elsewhere, named_wrongly, sized_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.mixture import Mixture
from pretrain.objective import Objective
from pretrain.objectives.head_only import HeadOnly

START_FOLDER = "start"
START = Described(START_FOLDER, "the start")
"""The encoder as it is, as records know it."""
HEAD = "the prediction head alone, by the first objective, before anything else"


@dataclass(frozen=True)
class Natural(Study):
    """What is read, what it begins with, what is learnt, and what is measured before and after.

    `start` is the folder of an encoder with its tokenizer, or its name on the hub with a revision. `texts` are by
    language, the first that of `finetune`, and `bitexts` by two of them, as `en-fr`; sentences of `withheld` are left
    out of both. `head` is how a new prediction head is trained before anything else is, by the first objective (None:
    with the rest).
    `gold` has the sets of word links, read by `aligners`, the first of which models are judged by; `same_sentences` are
    treebanks of one text in several languages; `tagged` are trees to fine-tune on and `tests` to be scored on, for the
    task `pos`.
    `dictionaries` are lexicons by bitext, as `calque lexicon` writes them, for objectives that are told some.
    A model has rows of the types that occur, or of all, as `table` says. What a plan cannot see before files are there,
    `sizes` and `types` say: bytes of text, and how many types the start's tokenizer has.
    """

    name: str
    start: Path
    texts: dict[str, TextFiles]
    bitexts: dict[str, tuple[BitextFiles, ...]]
    withheld: TextFiles | None
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    gold: Path
    same_sentences: dict[str, Path]
    tagged: TaskFiles
    tests: dict[str, tuple[Path, ...]]
    finetune: FinetuneConfig
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    head: TrainConfig | None = None
    mixture: Mixture = field(default_factory=Mixture)
    sets: tuple[str, ...] = SETS
    aligners: tuple[str, ...] = (DEFAULT.name, RELEASED.name, OT.name)
    threads: int = 1
    table: Rows = "used"
    sizes: TextSizes | None = None
    types: int = 0
    dictionaries: dict[str, Path] = field(default_factory=dict)

    @property
    def scale(self) -> str:
        shape, train = self.model, self.train
        layers = f"{counted(shape.layers, 'layer')} of width {shape.hidden}"
        return f"{layers}, {train.steps:,} steps of {train.batch:,} rows of {shape.length}"

    @property
    def extent(self) -> str:
        ids = self.train.steps * self.train.batch * self.model.length
        return (
            f"{counted(len(self.objectives) * len(self.seeds), 'model')} of {self.train.steps:,} steps of "
            f"{self.train.batch} x {self.model.length} ids ({ids / 1e6:,.1f} M) in {len(self.texts)} languages, from "
            f"{self.start}; they and the start are measured on {', '.join(self.sets)}, {len(self.same_sentences)} "
            f"languages of the same sentences and treebanks of {len(self.tests)} languages"
        )

    @cached_property
    def _begun(self) -> GivenModel:
        return GivenModel(self.start)

    def text(self, root: Path) -> NaturalText:
        """The step that reads text and bitexts."""
        vocabulary = GivenVocabulary(self._begun.checkpoint)
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

    def examples(self, root: Path) -> NaturalTask:
        """The step that makes the task's examples."""
        return NaturalTask(self.home(root), "pos", self.tagged, self.tests)

    def floors(self, root: Path) -> NaturalFloors:
        """The step that scores baselines which learn what models are fine-tuned on."""
        pairs = tuple((SOURCE, name) for name in (SOURCE, *self.tests))
        return NaturalFloors(self.home(root), "pos", pairs, self.examples(root), next(iter(self.texts)))

    def with_head(self, root: Path, seed: int) -> Pretrain | GivenModel:
        """What runs of a seed begin with: the start, or the step that gives it a prediction head."""
        if self.head is None:
            return self._begun
        return self._run(root, HeadOnly(self.objectives[0]), seed, self.head, self._begun)

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

    def models(self, root: Path) -> list[tuple[Start, Run, Path]]:
        """Every model that is measured, as records know it, with the folder of its records: the start, then by seed."""
        begun, home = self._begun, self.home(root)
        made: list[tuple[Start, Run, Path]] = [(begun, self._described(START_FOLDER, START, 0), home / START_FOLDER)]
        for seed in self.seeds:
            for objective in self.objectives:
                run = self.pretraining(root, objective, seed)
                known = self._described(f"{objective.name}/{run.folder.name}", Described.of(objective), seed)
                made.append((run, replace(known, start=Begun(START, 0.0)), run.folder))
        return made

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
        return list(dict.fromkeys((*self.texts, *self.same_sentences, *self.tests)))

    def measures(self, root: Path) -> list[NaturalMeasure]:
        """The steps that measure each model."""
        steps: list[NaturalMeasure] = []
        examples, source = self.examples(root), next(iter(self.texts))
        for model, run, above in self.models(root):
            common: dict[str, Any] = {"model": model, "run": run, "above": above, "threads": self.threads}
            steps += [GoldErrors(**common, text=text, aligners=self.aligners) for text in self._gold]
            steps += [SentenceRetrieval(**common, treebanks=self.same_sentences)] if self.same_sentences else []
            steps += [ZeroShot(**common, examples=examples, source=source, configs=(self.finetune,))]
        return steps

    @property
    def _gold(self) -> list[GoldText]:
        return [GoldText(self.gold, name) for name in self.sets]

    def steps(self, root: Path) -> list[Step]:
        # The start is measured first, so that gold links which cannot be read are told before hours of training.
        return with_needs([self.text(root), self.examples(root), self.floors(root), *self.measures(root)])

    def trained(self) -> list[Step]:
        runs = [self.pretraining(Path(), objective, seed) for seed in self.seeds for objective in self.objectives]
        heads = [self.with_head(Path(), seed) for seed in self.seeds] if self.head else []
        return [*(head for head in heads if isinstance(head, Pretrain)), *runs]

    def reading(self) -> TextPlan | None:
        if self.sizes is None:
            return None
        ids = self.train.steps * self.train.batch * self.model.length
        return TextPlan(self.sizes.of(self.texts, self.bitexts), ids, self.mixture)

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.natural_report import Outcome, write_natural_report

        measures, models = self.measures(root), self.models(root)
        measured = [step.read() for step in measures]
        runs = [run for run, _, _ in models if isinstance(run, Pretrain)]
        outcome = Outcome(
            study=self.name,
            scale=self.scale,
            sets=self.sets,
            aligners=self.aligners,
            source=next(iter(self.texts)),
            bitexts=tuple(self.bitexts),
            runs=[run for _, run, _ in models],
            records=[record for one in measured for record in one.records],
            floors=self.floors(root).read(),
            dropped=[*self._of_data(root), *of_pretraining(runs), *of_measures(measures, measured)],
            facts=self._facts(root, runs[0]),
        )
        return write_natural_report(outcome, folder)

    def _of_data(self, root: Path) -> list[str]:
        facts = self.text(root).open().facts, self.examples(root).open().facts
        return [*of_natural(facts[0]), *of_natural_task(facts[1]), *of_gold(self._gold)]

    def _facts(self, root: Path, first: Pretrain) -> list[tuple[str, str]]:
        made = first.open().facts
        identity = made["identity"]
        head = f"{listed(self.head.recipe)}; {HEAD}" if self.head else "drawn where the start has none"
        which = "those that occur" if self.table == "used" else "all"
        return [
            ("Start", f"{self._begun.checkpoint.name}, {self._begun.fingerprint} (fingerprint of its files)"),
            ("Seeds", ", ".join(map(str, self.seeds))),
            ("Model", listed(identity["model"])),
            ("Rows of its table", f"{self.text(root).rows:,} of the tokenizer's types: {which}"),
            ("Prediction head", head),
            ("Training", listed(identity["train"])),
            ("Mixture", self.mixture.title),
            ("Shown", ", ".join(f"{name} {part['rows']:,} rows" for name, part in made["shown"].items())),
            ("Fine-tuning", listed(vars(self.finetune))),
            *computed_with(identity["threads"], identity["device"], ("scipy",)),
        ]

    def account(self, root: Path) -> list[str]:
        return [*self._of_data(root), *(str(step.folder) for step in self.in_stages(root, ["derive"]))]

    def mistakes(self) -> list[str]:
        """Everything that is wrong with this study, in words; an empty list if nothing is."""
        wrong = [f"model.{mistake}" for mistake in self.model.mistakes()]
        wrong += [f"train.{mistake}" for mistake in self.train.mistakes()]
        wrong += [f"head.{mistake}" for mistake in (self.head.mistakes() if self.head else [])]
        wrong += [f"mixture.{mistake}" for mistake in self.mixture.mistakes(len(self.texts))]
        wrong += [f"finetune.{mistake}" for mistake in self.finetune.mistakes()]
        wrong += [mistake for objective in self.objectives for mistake in objective.mistakes(self.model)]
        wrong += begun_elsewhere(self.objectives)
        wrong += named_wrongly("objectives", [objective.name for objective in self.objectives])
        wrong += named_wrongly("seeds", [str(seed) for seed in self.seeds])
        wrong += named_wrongly("sets", list(self.sets))
        wrong += named_wrongly("aligners", list(self.aligners))
        wrong += sized_wrongly(self.threads, SMALLEST, self.seeds)
        if unknown := [name for name in self.aligners if name not in BY_NAME]:
            wrong.append(f"aligners: there is no {', '.join(map(shown, unknown))}; there are {', '.join(BY_NAME)}")
        if len(self.texts) < 2:
            wrong.append(f"texts are of two languages at least, not of {len(self.texts)}")
        for name in self.bitexts:
            if lacking := [language for language in pair_of(name) if language not in self.texts]:
                wrong.append(f"bitexts: {name} is of {lacking[0]}, of which there is no text")
        if lacking := sorted(self.dictionaries.keys() - self.bitexts.keys()):
            wrong.append(f"dictionaries: {lacking[0]} is no bitext; there are {', '.join(self.bitexts)}")
        if self.sizes and (
            lacking := sorted({*self.texts} - {*self.sizes.texts} | {*self.bitexts} - {*self.sizes.bitexts})
        ):
            wrong.append(f"sizes has none of {lacking[0]}")
        if not self.bitexts:
            wrong.append("bitexts are of one pair of languages at least")
        if self.start.exists() or not self.types:  # what is still to be fetched, a plan tells
            wrong += self._begun.mistakes(self.model)
        return wrong
