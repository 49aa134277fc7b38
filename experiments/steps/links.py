"""The steps that score word aligners on a gold set, each a folder of records."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.aligners.encoder import Encoder, main_layer
from analysis.measures.aer import Score
from analysis.measures.word_alignment import diagonal_score, encoder_scores, fast_align_scores
from analysis.records.link_scores import APART, DIAGONAL, FAST_ALIGN, JOINT, LinkScore, read_scores, write_scores
from derive.artefact import making
from experiments.gold_text import GoldText, digests, lowered
from experiments.step import Machine, Stage, Step
from experiments.steps.pretraining import Pretrain

OWN, MORE = "own sentences", "own + parallel"
"""What fast_align learns from: the gold set's sentences alone, or with the parallel text."""
RECORDS = "records.jsonl"


@dataclass(frozen=True, kw_only=True)
class LinkStep(Step):
    """Records of aligners on the gold set of `text`; `home` is the folder of the study."""

    home: Path
    text: GoldText
    study: str
    seed: int
    threads: int = 1

    stage: ClassVar[Stage] = "evaluate"
    kind: ClassVar[str] = "records"

    @abstractmethod
    def measured(self, machine: Machine) -> tuple[list[LinkScore], Counter[str]]:
        """The records, and what got no links, by reason."""

    @property
    def decided_by(self) -> dict[str, Any]:
        return {"gold": self.text.gold_digests}

    def __call__(self, machine: Machine) -> None:
        rows, left_out = self.measured(machine)
        facts = self.facts | {"made with": machine.described, "left out": dict(+left_out)}
        with making(self.folder, self.kind, facts) as part:
            write_scores(part / RECORDS, rows)

    def read(self) -> list[LinkScore]:
        """The records of the finished step.

        Raises:
            BadInput: they are damaged.
        """
        return list(read_scores(self.open().path(RECORDS)))

    @property
    def left_out(self) -> dict[str, int]:
        """What got no links, of the finished step."""
        return dict(self.open().facts["left out"])

    def row(self, score: Score, aligner: str, learnt: str, way: str, layer: int = 0, layers: int = 0) -> LinkScore:
        """A record of the study."""
        main = layer == main_layer(layers) if layers else True
        run = str(self.folder.relative_to(self.home))
        counts = (score.pairs, score.predicted, score.sure, score.found_sure, score.found_possible)
        return LinkScore(self.study, run, self.text.name, aligner, learnt, way, layer, layers, main, self.seed, *counts)


@dataclass(frozen=True, kw_only=True)
class Diagonal(LinkStep):
    """Each target word linked to the source word in the same place of its sentence: what needs no learning."""

    format: ClassVar[int] = 1

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "diagonal"

    @property
    def title(self) -> str:
        return f"diagonal {self.text.name}"

    def measured(self, machine: Machine) -> tuple[list[LinkScore], Counter[str]]:
        gold = self.text.set
        return [self.row(diagonal_score(gold.pairs, gold.gold), DIAGONAL, "", "")], Counter()


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

    def measured(self, machine: Machine) -> tuple[list[LinkScore], Counter[str]]:
        gold = self.text.set.gold
        own, left_out, rows = self.text.own(), Counter[str](), list[LinkScore]()
        corpora = {OWN: own}
        if self.text.text:
            corpora[MORE], left_out = self.text.pairs()
        machine.report(self.title, 0, len(corpora))
        for done, (learnt, corpus) in enumerate(corpora.items(), start=1):
            scores, dropped = fast_align_scores(own, gold, corpus)
            rows += [self.row(score, FAST_ALIGN, learnt, way) for way, score in scores.items()]
            left_out += dropped
            machine.report(self.title, done, len(corpora))
        return rows, left_out


@dataclass(frozen=True, kw_only=True)
class EncoderLinks(LinkStep):
    """Every layer of an encoder by optimal transport, and the main one by every method: apart and in one row."""

    def scores(
        self, folder: Path, learnt: str, lower: bool, kinds: tuple[int, int], machine: Machine
    ) -> tuple[list[LinkScore], Counter[str]]:
        """Score an encoder; `kinds` are the target's token types, apart and joint."""
        gold = self.text.set
        pairs = lowered(gold.pairs) if lower else gold.pairs
        scores, left_out = encoder_scores(folder, pairs, gold.gold, kinds, str(machine.world.device))
        rows = [self.row(s.score, s.method, learnt, JOINT if s.joint else APART, s.layer, s.layers) for s in scores]
        return rows, left_out


@dataclass(frozen=True, kw_only=True)
class PretrainedLinks(EncoderLinks):
    """An encoder of the study's own, which has learnt lower case."""

    run: Pretrain

    format: ClassVar[int] = 1

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

    def measured(self, machine: Machine) -> tuple[list[LinkScore], Counter[str]]:
        run = self.run
        left_out = Counter(run.open().facts["left out"])
        second = int(run.objective.language_embeddings)
        rows, dropped = self.scores(run.checkpoint, run.objective.name, True, (second, second), machine)
        return rows, left_out + dropped


@dataclass(frozen=True, kw_only=True)
class GivenLinks(EncoderLinks):
    """An encoder of any origin, which sees the gold set as it is."""

    encoder: Path

    format: ClassVar[int] = 1

    @property
    def place(self) -> Path:
        return self.home / self.text.name / "encoder"

    @property
    def title(self) -> str:
        return f"{self.encoder.name} {self.text.name}"

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        return {"gold": self.text.gold_digests, "encoder": digests(self.encoder)}

    def measured(self, machine: Machine) -> tuple[list[LinkScore], Counter[str]]:
        machine.report(self.title, 0, 1)
        second = int(Encoder(self.encoder, 0).token_types > 1)
        made = self.scores(self.encoder, self.encoder.name, False, (0, second), machine)
        machine.report(self.title, 1, 1)
        return made
