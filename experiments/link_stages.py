"""The stages of a study of word alignment, each of which finds its work done or does it: text, pretraining, links."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from analysis.aligners.encoder import Encoder, main_layer
from analysis.measures.aer import Score
from analysis.measures.gold import gold_set
from analysis.measures.word_alignment import diagonal_score, encoder_scores, fast_align_scores
from analysis.records.link_scores import APART, DIAGONAL, FAST_ALIGN, JOINT, LinkScore, read_scores, write_scores
from derive.errors import BadInput
from derive.files import MANIFEST, claimed, whole_folder, write_json
from derive.links.aligner import Pair
from derive.translation import write_translation
from derive.workers import Workers
from experiments.progress import Report, Throttled
from experiments.word_alignment import LinkPlaces, WordAlignment
from pretrain import distributed
from pretrain.objective import Objective
from pretrain.run import Pretraining, pretrain

OWN, MORE = "own sentences", "own + parallel"
"""What fast_align learns from: the gold set's sentences alone, or with the parallel text."""
SCORES, LEFT_OUT = "scores.jsonl", "left_out.json"


def compute(places: LinkPlaces, jobs: int | None, report: Report, allow_change: bool = False) -> list[Path]:
    """Everything of a study that is not there yet; the folders with its scores, in the order of the tables.

    Raises:
        BadInput: a file is missing or damaged, or an encoder cannot be loaded; or torchrun started this process.
        NonFinite: a run diverged.
    """
    study = places.study
    if "WORLD_SIZE" in os.environ:
        raise BadInput(f"{study.name} shares no batches between processes: run it without torchrun")
    for done, name in enumerate(study.text, start=1):
        report("text as pairs of languages", done - 1, len(study.text))
        if study.objectives and not (places.data(name) / MANIFEST).exists():
            pairs, _ = sentences(study, name, _lowered(gold_set(study.gold, name).pairs))
            write_translation(pairs, name.partition("-")[2], study.vocabulary, places.data(name))
        report("text as pairs of languages", done, len(study.text))
    work: list[Job] = [kind(places, name) for kind in (Diagonal, Statistics) for name in study.sets]
    work += [Run(places, name, objective, allow_change) for objective in study.objectives for name in study.text]
    if study.encoder:
        work += [Given(places, name, study.encoder) for name in study.sets]
    waiting = [job for job in work if not job.folder.exists()]
    many = min(len(waiting), jobs or max(1, (os.cpu_count() or 1) // study.threads))
    if many > 1:
        with Workers(many) as pool:
            for done, _ in enumerate(pool.map(_alone, waiting), start=1):
                report("aligners and encoders", done, len(waiting))
    else:
        for job in waiting:
            _do(job, Throttled(report))
    return [job.folder for job in work]


def sentences(study: WordAlignment, name: str, own: Sequence[Pair]) -> tuple[list[Pair], Counter[str]]:
    """The set's own sentences and its parallel text, each pair once, and what was left out."""
    left_out: Counter[str] = Counter()
    source, _, target = name.partition("-")
    found = [*own, *(pair for text in study.text[name] for pair in text.words(source, target, left_out))]
    once = list(dict.fromkeys(found))
    left_out["sentence pairs that were there already"] += len(found) - len(once)
    left_out["sentence pairs learnt from"] += len(once)
    return once, left_out


@dataclass(frozen=True)
class Job(ABC):
    """Scores on the gold set `name`."""

    places: LinkPlaces
    name: str

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where they are kept; whole or absent."""

    @abstractmethod
    def __call__(self, report: Report) -> None:
        """Make the folder."""

    def keep(self, rows: list[LinkScore], left_out: Counter[str]) -> None:
        """Write what was measured."""
        with whole_folder(self.folder) as part:
            write_scores(part / SCORES, rows)
            write_json(part / LEFT_OUT, dict(left_out))

    def row(self, score: Score, aligner: str, learnt: str, way: str, layer: int = 0, layers: int = 0) -> LinkScore:
        """A record of the study."""
        study, main = self.places.study, layer == main_layer(layers) if layers else True
        run = str(self.folder.relative_to(self.places.home))
        counts = (score.pairs, score.predicted, score.sure, score.found_sure, score.found_possible)
        return LinkScore(study.name, run, self.name, aligner, learnt, way, layer, layers, main, study.seed, *counts)


@dataclass(frozen=True)
class Diagonal(Job):
    """Each target word linked to the source word in the same place of its sentence: what needs no learning."""

    @property
    def folder(self) -> Path:
        return self.places.diagonal(self.name)

    def __call__(self, report: Report) -> None:
        gold = gold_set(self.places.study.gold, self.name)
        self.keep([self.row(diagonal_score(gold.pairs, gold.gold), DIAGONAL, "", "")], Counter())


@dataclass(frozen=True)
class Statistics(Job):
    """fast_align, trained on the set's own sentences and, where there is parallel text, on both."""

    @property
    def folder(self) -> Path:
        return self.places.statistics(self.name)

    def __call__(self, report: Report) -> None:
        study = self.places.study
        gold = gold_set(study.gold, self.name)
        report(f"fast_align {self.name}", 0, 2 if self.name in study.text else 1)
        own, left_out, rows = _lowered(gold.pairs), Counter[str](), list[LinkScore]()
        corpora = {OWN: own}
        if self.name in study.text:
            corpora[MORE], left_out = sentences(study, self.name, own)
        for done, (learnt, corpus) in enumerate(corpora.items(), start=1):
            scores, dropped = fast_align_scores(own, gold.gold, corpus)
            rows += [self.row(score, FAST_ALIGN, learnt, way) for way, score in scores.items()]
            left_out += dropped
            report(f"fast_align {self.name}", done, len(corpora))
        self.keep(rows, left_out)


@dataclass(frozen=True)
class Run(Job):
    """An encoder of our own on a set's text: pretrained, then scored. It has learnt lower case."""

    objective: Objective
    allow_change: bool = False

    @property
    def folder(self) -> Path:
        return self.places.links(self.name, self.objective)

    def __call__(self, report: Report) -> None:
        study, title = self.places.study, f"{self.name} {self.objective.name}"
        folder, language = self.places.run(self.name, self.objective), self.name.partition("-")[2]
        data = self.places.data(self.name)
        config = Pretraining(data, language, self.objective, study.model, study.train, study.seed)
        pretrain(
            folder,
            config,
            distributed.join(),
            progress=lambda step, steps: report(f"pretrain {title}", step, steps),
            allow_change=self.allow_change,
        )
        left_out = Counter(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["left out"])
        second = int(self.objective.language_embeddings)
        self.keep(*_score_encoder(self, folder / "checkpoint", self.objective.name, True, (second, second), left_out))


@dataclass(frozen=True)
class Given(Job):
    """An encoder of any origin, which sees the gold set as it is."""

    encoder: Path

    @property
    def folder(self) -> Path:
        return self.places.given(self.name, self.encoder)

    def __call__(self, report: Report) -> None:
        second = int(Encoder(self.encoder, 0).token_types > 1)
        self.keep(*_score_encoder(self, self.encoder, self.encoder.name, False, (0, second), Counter()))
        report(f"{self.encoder.name} {self.name}", 1, 1)


def _score_encoder(
    job: Job, folder: Path, learnt: str, lowered: bool, kinds: tuple[int, int], left_out: Counter[str]
) -> tuple[list[LinkScore], Counter[str]]:
    """Every layer with optimal transport, and the main one with every method; each side alone and both in one row.

    `kinds` are the target's token types, alone and joint.
    """
    gold = gold_set(job.places.study.gold, job.name)
    scores, dropped = encoder_scores(folder, _lowered(gold.pairs) if lowered else gold.pairs, gold.gold, kinds)
    rows = [job.row(s.score, s.method, learnt, JOINT if s.joint else APART, s.layer, s.layers) for s in scores]
    left_out.update(dropped)
    return rows, left_out


def _lowered(pairs: Sequence[Pair]) -> list[Pair]:
    return [(tuple(map(str.lower, source)), tuple(map(str.lower, target))) for source, target in pairs]


def _do(job: Job, report: Report) -> None:
    torch.set_num_threads(job.places.study.threads)
    with claimed(job.folder):
        job(report)


def _alone(job: Job) -> None:
    _do(job, lambda what, done, of: None)


def kept(folder: Path) -> tuple[list[LinkScore], dict[str, int]]:
    """What a job wrote."""
    return list(read_scores(folder / SCORES)), json.loads((folder / LEFT_OUT).read_text(encoding="utf-8"))
