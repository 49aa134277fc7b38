"""The steps that score word aligners on a gold set, each a folder of records."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.aligners.encoder import Encoder, main_layer
from analysis.aligners.methods import CHOICES, OT, RELEASED, Method
from analysis.aligners.subwords import SubWords
from analysis.measures.word_alignment import diagonal_score, encoder_scores, fast_align_scores
from analysis.papers.xlm_align.links import DIAGONAL, FAST_ALIGN
from analysis.records import json_rows
from analysis.records.record import AER, RECORDS, LinkCounts, Record
from analysis.records.run import RUNS, Described, Run
from derive.artefact import making
from derive.errors import BadInput
from experiments.gold_text import GoldText, digests, lowered
from experiments.step import Machine, Stage, Step
from experiments.steps.pretraining import Pretrain

OWN, MORE = "own sentences", "own + parallel"
"""What fast_align learns from: the gold set's sentences alone, or with the parallel text."""


@dataclass(frozen=True)
class Scored:
    """Records of aligners, the runs that they are of, and counts of what got no links, by reason."""

    runs: tuple[Run, ...]
    records: tuple[Record, ...]
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True)
class LinkStep(Step):
    """Records of aligners on the gold set of `text`; `home` is the folder of the study."""

    home: Path
    text: GoldText
    study: str
    threads: int = 1

    stage: ClassVar[Stage] = "evaluate"
    kind: ClassVar[str] = "records"

    @abstractmethod
    def measured(self, machine: Machine) -> Scored:
        """Align and score.

        Raises:
            BadInput: there is no error rate, because there are neither gold nor predicted links.
        """

    @property
    def seed(self) -> int:
        """The seed of the model that is scored; 0 where nothing is random."""
        return 0

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"gold": self.text.gold_digests}

    def __call__(self, machine: Machine) -> None:
        scored = self.measured(machine)
        facts = self.facts | {"made with": machine.described, "left out": dict(+scored.left_out)}
        with making(self.folder, self.kind, facts) as part:
            json_rows.write(part / RUNS, scored.runs)
            json_rows.write(part / RECORDS, scored.records)

    def read(self) -> Scored:
        """What the finished step measured.

        Raises:
            BadInput: it is damaged.
        """
        made = self.open()
        runs, records = json_rows.read(made.path(RUNS), Run), json_rows.read(made.path(RECORDS), Record)
        return Scored(tuple(runs), tuple(records), Counter(made.facts["left out"]))

    def learnt(self, by: Described | None, layers: int = 0) -> Run:
        """The run that is scored; `by` is the objective or the text that it learnt from."""
        source, target = self.text.source, self.text.target
        folder = str(self.folder.relative_to(self.home))
        return Run(
            id=folder if layers or by is None else f"{folder}/{by.name}",  # fast_align learns from two texts
            study=self.study,
            seed=self.seed,
            languages=(Described(source, source), Described(target, target)),
            objective=by,
            layers=layers,
            main_layer=main_layer(layers) if layers else 0,
        )

    def record(self, run: Run, aligner: str, score: LinkCounts) -> Record:
        """A record of the step, without its facets.

        Raises:
            BadInput: there is no error rate, because there are neither gold nor predicted links.
        """
        if score.aer is None:
            raise BadInput(f"no sure link in the gold set {self.text.name} and none predicted: there is no error rate")
        return Record(run.id, AER, "aer", score.aer, score.sure, gold_set=self.text.name, aligner=aligner, links=score)


@dataclass(frozen=True, kw_only=True)
class Diagonal(LinkStep):
    """A baseline without training: each target word is linked to the source word in the same place."""

    format: ClassVar[int] = 1

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "diagonal"

    @property
    def title(self) -> str:
        return f"diagonal {self.text.name}"

    def measured(self, machine: Machine) -> Scored:
        gold, run = self.text.set, self.learnt(None)
        return Scored((run,), (self.record(run, DIAGONAL, diagonal_score(gold.pairs, gold.gold)),))


@dataclass(frozen=True, kw_only=True)
class Statistics(LinkStep):
    """fast_align, trained on the set's own sentences and, where there is parallel text, on both."""

    format: ClassVar[int] = 1

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "fast_align"

    @property
    def title(self) -> str:
        return f"fast_align {self.text.name}"

    @property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "text": self.text.fingerprint}

    def measured(self, machine: Machine) -> Scored:
        gold, own, left_out = self.text.set.gold, self.text.own(), Counter[str]()
        runs, records = list[Run](), list[Record]()
        corpora = {OWN: own}
        if self.text.text:
            corpora[MORE], left_out = self.text.pairs()
        machine.report(self.title, 0, len(corpora))
        for done, (learnt, corpus) in enumerate(corpora.items(), start=1):
            scores, dropped = fast_align_scores(own, gold, corpus)
            runs.append(self.learnt(Described(learnt, learnt)))
            records_by_symmetrisation = {
                symmetrisation: self.record(runs[-1], FAST_ALIGN, score) for symmetrisation, score in scores.items()
            }
            records += [
                replace(record, symmetrisation=symmetrisation)
                for symmetrisation, record in records_by_symmetrisation.items()
            ]
            left_out += dropped
            machine.report(self.title, done, len(corpora))
        return Scored(tuple(runs), tuple(records), left_out)


@dataclass(frozen=True, kw_only=True)
class EncoderLinks(LinkStep):
    """Every layer of an encoder by some methods, and its main layer by all that have a name: sides apart and joint."""

    everywhere: ClassVar[tuple[Method, ...]] = (OT, RELEASED)

    def scores(self, folder: Path, by: Described, lower: bool, kinds: tuple[int, int], machine: Machine) -> Scored:
        """Score an encoder; `kinds` are the target's token types, apart and joint."""
        gold = self.text.set
        pairs = lowered(gold.pairs) if lower else gold.pairs
        device = str(machine.world.device)
        scores, left_out = encoder_scores(folder, pairs, gold.gold, kinds, device, self.everywhere)
        run = self.learnt(by, scores[0].layers)
        records = [replace(self.record(run, s.method, s.score), layer=s.layer, joint=s.joint) for s in scores]
        return Scored((run,), tuple(records), left_out)


@dataclass(frozen=True, kw_only=True)
class PretrainedLinks(EncoderLinks):
    """An encoder that the study pretrained on text in lower case."""

    run: Pretrain

    format: ClassVar[int] = 3

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def place(self) -> Path:
        return self.run.folder / "links"

    @property
    def title(self) -> str:
        return f"links {self.run.name}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.run,)

    @property
    def decided_by(self) -> dict[str, Any]:
        return {**super().decided_by, "run": self.run.fingerprint}

    def measured(self, machine: Machine) -> Scored:
        run = self.run
        left_out = Counter(run.open().facts["left out"])
        second = int(run.objective.language_embeddings)
        scored = self.scores(run.checkpoint, Described.of(run.objective), True, (second, second), machine)
        return replace(scored, left_out=left_out + scored.left_out)


@dataclass(frozen=True, kw_only=True)
class GivenLinks(EncoderLinks):
    """An encoder from a folder, which sees the gold set with its capitals; every choice is made at every layer."""

    encoder: Path

    format: ClassVar[int] = 4
    everywhere: ClassVar[tuple[Method, ...]] = CHOICES

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "encoder"

    @property
    def title(self) -> str:
        return f"{self.encoder.name} {self.text.name}"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {"gold": self.text.gold_digests, "encoder": digests(self.encoder)}

    def measured(self, machine: Machine) -> Scored:
        machine.report(self.title, 0, 1)
        second = SubWords(self.encoder).second_type if Encoder(self.encoder, 0).token_types > 1 else 0
        made = self.scores(self.encoder, Described(self.encoder.name, self.encoder.name), False, (0, second), machine)
        machine.report(self.title, 1, 1)
        return made
