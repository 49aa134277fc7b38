"""Word aligners on gold sets: a model's encoder, an encoder from elsewhere, fast_align, and the diagonal."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.aligners.encoder import Encoder, main_layer
from analysis.aligners.methods import CHOICES, OT, RELEASED, Method
from analysis.aligners.subwords import SubWords
from analysis.measures.word_alignment import alone_and_joint, diagonal_score, fast_align_scores, link_record
from analysis.papers.xlm_align.links import DIAGONAL, FAST_ALIGN
from analysis.records.record import LinkCounts, MeasuredModel, Measurement, Record
from analysis.records.run import Described, Run
from derive.artefact import digest
from experiments.languages import GoldText, PairText, lowered
from experiments.measures import Measure, write_measurement
from experiments.models import Model
from experiments.step import Machine, Step

OWN, MORE = "own sentences", "own + parallel"
"""What fast_align learns from: the gold set's sentences alone, or with the parallel text."""


@dataclass(frozen=True)
class EncoderLinks(Measure):
    """AER of a model that was pretrained on a gold set's languages: every layer, sides apart and in one row."""

    name = "links"
    format = 3
    only_pairs = True

    def settings(self, model: Model) -> Any:
        return model.training.data.config.text.gold_digests

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        text: PairText = model.training.data.config
        exclusions = Counter(model.step.open().facts["left out"])
        second = int(model.training.objective.traits.language_embeddings)
        records, dropped = _score(model.checkpoint, model.run, text.text, True, {False: second, True: second}, machine)
        return Measurement(tuple(records), exclusions + dropped)


def _score(
    checkpoint: Path,
    run: Run,
    text: GoldText,
    lower: bool,
    token_types: Mapping[bool, int],
    machine: Machine,
    everywhere: tuple[Method, ...] = (OT, RELEASED),
) -> tuple[list[Record], Counter[str]]:
    """Records of an encoder's layers, and what got no links; other methods than `everywhere` at the main layer only.

    `token_types` are the target's, when each side is a row and when both are one.
    """
    pairs = lowered(text.set.pairs) if lower else text.set.pairs
    device = str(machine.world.device)
    scores, exclusions = alone_and_joint(checkpoint, pairs, text.set.gold, token_types, device, everywhere)
    records = [_record(run, text, one.method, one.total, layer=one.layer, joint=one.joint) for one in scores]
    return records, exclusions


def _record(run: Run, text: GoldText, aligner: str, counts: LinkCounts, **fields: object) -> Record:
    return link_record(MeasuredModel(Path(), run.id), text.name, aligner, counts, **fields)


@dataclass(frozen=True)
class GoldSetAligner:
    """An aligner that learns without a model of the study `study`, on one gold set."""

    text: GoldText
    study: str

    def run(self, step: Step, source: Described | None = None, layers: int = 0) -> Run:
        """The aligner as records describe it; `source` is the text or the encoder that it learnt from."""
        folder = f"{self.text.name}/{step.folder.name}"
        return Run(
            id=folder if layers or source is None else f"{folder}/{source.name}",  # fast_align learns from two texts
            study=self.study,
            seed=0,
            languages=tuple(Described(code, code) for code in self.text.pair),
            objective=source,
            layers=layers,
            main_layer=main_layer(layers) if layers else 0,
        )


@dataclass(frozen=True)
class Diagonal(GoldSetAligner):
    """A baseline without training: each target word is linked to the source word in the same place."""

    def identity(self) -> Any:
        return self.text.gold_digests

    def step(self, home: Path, threads: int) -> Step:
        return _aligner_step(_score_diagonal, self, home, "diagonal", 1, threads)


def _aligner_step(
    function: Any, config: GoldSetAligner, home: Path, name: str, format: int, threads: int, title: str = ""
) -> Step:
    place = home / config.text.name / name
    title = f"{title or name} {config.text.name}"
    return Step(function, config, place, title, "evaluate", "records", format, threads)


def _score_diagonal(step: Step, machine: Machine) -> None:
    config: Diagonal = step.config
    gold, run = config.text.set, config.run(step)
    score = diagonal_score(gold.pairs, gold.gold)
    write_measurement(step, Measurement((_record(run, config.text, DIAGONAL, score),)), machine, [run])


@dataclass(frozen=True)
class FastAlign(GoldSetAligner):
    """fast_align, trained on the set's own sentences and, where there is parallel text, on both."""

    def identity(self) -> Any:
        return {"gold": self.text.gold_digests, "text": self.text.identity()}

    def step(self, home: Path, threads: int) -> Step:
        return _aligner_step(_score_fast_align, self, home, "fast_align", 1, threads)


def _score_fast_align(step: Step, machine: Machine) -> None:
    config: FastAlign = step.config
    own, left_out = config.text.own(), Counter[str]()
    corpora = {OWN: own}
    if config.text.text:
        corpora[MORE], left_out = config.text.pairs()
    runs, records = list[Run](), list[Record]()
    machine.report(step.title, 0, len(corpora))
    for done, (name, corpus) in enumerate(corpora.items(), start=1):
        scores, dropped = fast_align_scores(own, config.text.set.gold, corpus)
        runs.append(config.run(step, Described(name, name)))
        records += [
            _record(runs[-1], config.text, FAST_ALIGN, score, symmetrisation=symmetrisation)
            for symmetrisation, score in scores.items()
        ]
        left_out += dropped
        machine.report(step.title, done, len(corpora))
    write_measurement(step, Measurement(tuple(records), left_out), machine, runs)


@dataclass(frozen=True)
class GivenEncoder(GoldSetAligner):
    """An encoder from a folder, which reads the gold set with its capitals; every method is scored at every layer."""

    encoder: Path

    def identity(self) -> Any:
        digests = {path.name: digest(path) for path in sorted(self.encoder.glob("*")) if path.is_file()}
        return {"gold": self.text.gold_digests, "encoder": digests}

    def step(self, home: Path, threads: int) -> Step:
        return _aligner_step(_score_encoder, self, home, "encoder", 4, threads, self.encoder.name)


def _score_encoder(step: Step, machine: Machine) -> None:
    config: GivenEncoder = step.config
    machine.report(step.title, 0, 1)
    folder, described = config.encoder, Described(config.encoder.name, config.encoder.name)
    encoder = Encoder(folder, 0)
    second = SubWords(folder).second_type if encoder.token_types > 1 else 0
    run = config.run(step, described, encoder.layers)
    records, left_out = _score(folder, run, config.text, False, {False: 0, True: second}, machine, CHOICES)
    write_measurement(step, Measurement(tuple(records), left_out), machine, [run])
    machine.report(step.title, 1, 1)
