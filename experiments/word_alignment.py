"""The study of word alignment: aligners and encoders on real gold sets.

<root>/<study>/<set>/languages-<fp>/                            its text as a pair of languages
<root>/<study>/<set>/<objective>/seed-<k>-<fp>/                 a pretraining run
<root>/<study>/<set>/<objective>/seed-<k>-<fp>/links-<fp>/      how its encoder aligns, and what got no links
<root>/<study>/<set>/{diagonal,fast_align,encoder}-<fp>/        the same of what needs no encoder, and of one given
<root>/<study>/report/                                          records, tables, figure, report.html
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.measures.gold import SETS
from derive.files import plain
from derive.readers.parallel import ParallelText
from experiments.account import of_gold, of_links
from experiments.facts import computed_with, counted, listed
from experiments.gold_text import GoldText
from experiments.step import Step, with_needs
from experiments.steps.languages import PairText
from experiments.steps.links import Diagonal, GivenLinks, LinkStep, PretrainedLinks, Statistics
from experiments.steps.pretraining import Pretrain
from experiments.study import Study, masked_wrongly, named_wrongly, sized_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective


@dataclass(frozen=True)
class WordAlignment(Study):
    """Gold sets in the folder `gold`, the text that fast_align and our own encoders learn from, and what is trained.

    `text` has parallel text by gold set, to be learnt from together with the set's own sentences; encoders are
    pretrained for the sets that it names. `encoder` is a folder with a model of any origin, for all sets.
    """

    name: str
    gold: Path
    text: dict[str, tuple[ParallelText, ...]]
    objectives: tuple[Objective, ...]
    vocabulary: int
    sets: tuple[str, ...] = SETS
    encoder: Path | None = None
    seed: int = 0
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1

    @property
    def scale(self) -> str:
        layers = counted(self.model.layers, "layer")
        return f"RoBERTa of {layers}, width {self.model.hidden}, {self.train.steps:,} steps"

    @property
    def extent(self) -> str:
        models, train = len(self.text) * len(self.objectives), self.train
        return (
            f"{counted(models, 'model')} of {train.steps:,} steps of {train.batch} x {self.model.length} ids, "
            f"each scored on its gold set, and aligners on {', '.join(self.sets)}"
        )

    def pretraining(self, root: Path, name: str, objective: Objective) -> Pretrain:
        """The step that pretrains an encoder on a set's text."""
        home, text = self.home(root), self.gold_text(name)
        return Pretrain(
            above=home / name / objective.name,
            data=PairText(home, text, self.vocabulary),
            languages=(text.target,),
            objective=objective,
            model=self.model,
            train=self.train,
            seed=self.seed,
            threads=self.threads,
        )

    def gold_text(self, name: str) -> GoldText:
        """A gold set with what is learnt for it."""
        return GoldText(self.gold, name, self.text.get(name, ()))

    def scored(self, root: Path) -> list[LinkStep]:
        """The steps that score an aligner or an encoder, in the order of the tables."""
        common: dict[str, Any] = {
            "home": self.home(root),
            "study": self.name,
            "threads": self.threads,
        }
        texts = {name: self.gold_text(name) for name in self.sets}
        steps: list[LinkStep] = [
            kind(text=text, **common) for kind in (Diagonal, Statistics) for text in texts.values()
        ]
        steps += [
            PretrainedLinks(text=texts[name], run=self.pretraining(root, name, objective), **common)
            for objective in self.objectives
            for name in self.text
        ]
        if self.encoder:
            steps += [GivenLinks(text=text, encoder=self.encoder, **common) for text in texts.values()]
        return steps

    def steps(self, root: Path) -> list[Step]:
        return with_needs(self.scored(root))

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.report import write_report

        steps = self.scored(root)
        scored = [step.read() for step in steps]
        texts = [self.gold_text(name) for name in self.sets]
        return write_report(
            self.name,
            self.scale,
            "word_alignment",
            [run for scores in scored for run in scores.runs],
            [row for scores in scored for row in scores.records],
            folder,
            exclusions=[*of_gold(texts), *of_links(steps, scored)],
            facts=self._facts(),
        )

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("Seed", str(self.seed)),
            ("Model", listed(vars(self.model))),
            ("Training", listed(plain(self.train))),
            ("Vocabulary", f"{self.vocabulary:,} types, byte-level BPE, both languages in one"),
            ("Encoder given", str(self.encoder or "none")),
            *computed_with(self.threads, more=("scipy",)),
        ]

    def account(self, root: Path) -> list[str]:
        return [str(step.folder) for step in self.in_stages(root, ["derive"])]

    def mistakes(self) -> list[str]:
        """Everything that is wrong with this study, in words; an empty list if nothing is."""
        wrong = [f"model.{mistake}" for mistake in self.model.mistakes()]
        wrong += [f"train.{mistake}" for mistake in self.train.mistakes()]
        names = [objective.name for objective in self.objectives]
        wrong += named_wrongly("sets", list(self.sets))
        wrong += named_wrongly("objectives", names, least=0) + masked_wrongly("objectives", self.objectives)
        wrong += sized_wrongly(self.threads, self.vocabulary, [self.seed])
        if unknown := sorted(set(self.text) - set(self.sets)):
            wrong.append(f"text is for sets, and {', '.join(unknown)} is none of them")
        if self.model.layers > 0:
            wrong += [mistake for objective in self.objectives for mistake in objective.mistakes(self.model)]
        if self.encoder and not (self.encoder / "config.json").is_file():
            wrong.append(f"encoder is a folder that transformers loads, and {self.encoder} has no config.json")
        if self.encoder and self.encoder.name in names:
            wrong.append(f"encoder has the name of an objective, {self.encoder.name}: tables could not tell them apart")
        return wrong
