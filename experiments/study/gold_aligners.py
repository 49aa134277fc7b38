"""Word aligners on gold sets: a study's model, another encoder, fast_align and a diagonal baseline."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calque.analysis.aligners.encoder import Encoder, SubWords
from calque.analysis.aligners.methods import CHOICES, OT, RELEASED, Method
from calque.analysis.measures.word_alignment import (
    alone_and_joint,
    diagonal_score,
    fast_align_scores,
    link_record,
)
from calque.analysis.records.record import (
    DIAGONAL,
    FAST_ALIGN,
    Described,
    LinkCounts,
    MeasuredModel,
    Measurement,
    Record,
    Run,
)
from calque.derive.artefact import digest
from calque.experiments.run.step import Machine, Step
from calque.experiments.study.gold_text import GoldText, lowered
from calque.experiments.study.measuring import Measure, write_measurement
from calque.experiments.study.models import Model
from calque.pretrain.architecture import main_layer

OWN, MORE = "own sentences", "own + parallel"
"""fast_align's training text: only the gold set's sentences, or also the parallel text."""


@dataclass(frozen=True)
class EncoderLinks(Measure):
    """The AER of each layer of a model pretrained on a gold set's languages, with the two sides encoded
    separately and jointly."""

    name = "links"
    format = 3

    def settings(self, model: Model) -> Any:
        return model.training.data.config.gold_digests

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        text: GoldText = model.training.data.config
        exclusions = Counter(model.step.open().facts["left out"])
        second = int(model.training.objective.traits.language_embeddings)
        records, dropped = _score(
            model.checkpoint, model.run, text, True, {False: second, True: second}, machine
        )
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
    """Return records and exclusions. Each layer is scored with the methods `everywhere`, and the main layer
    with all."""
    pairs = lowered(text.set.pairs) if lower else text.set.pairs
    device = str(machine.world.device)
    scores, exclusions = alone_and_joint(checkpoint, pairs, text.set.gold, token_types, device, everywhere)
    records = [_record(run, text, s.method, s.total, layer=s.layer, joint=s.joint) for s in scores]
    return records, exclusions


def _record(run: Run, text: GoldText, aligner: str, counts: LinkCounts, **fields: object) -> Record:
    return link_record(MeasuredModel(Path(), run.id), text.name, aligner, counts, **fields)


@dataclass(frozen=True)
class GoldSetAligner:
    """An aligner for one gold set that uses no model trained in `study`. `name` is `diagonal`, a baseline
    that links each target word to the source word at the same relative position; `fast_align`, trained on the
    set's sentences alone and, if there is parallel text, also on both together; or `encoder`, the model in
    the folder `encoder`, scored with each method at each layer."""

    name: str
    text: GoldText
    study: str
    encoder: Path | None = None

    def identity(self) -> Any:
        if self.encoder:
            files = (path for path in sorted(self.encoder.glob("*")) if path.is_file())
            return {"gold": self.text.gold_digests, "encoder": {path.name: digest(path) for path in files}}
        gold = self.text.gold_digests
        return {"gold": gold, "text": self.text.digest} if self.name == "fast_align" else gold

    def step(self, home: Path, threads: int) -> Step:
        title = f"{self.encoder.name if self.encoder else self.name} {self.text.name}"
        place, format = home / self.text.name / self.name, 4 if self.encoder else 1
        return Step(_score_aligner, self, place, title, "evaluate", "records", format, threads)

    def run(self, step: Step, source: Described | None = None, layers: int = 0) -> Run:
        """Describe the aligner for records; `source` is its training text or its encoder."""
        run = f"{self.text.name}/{step.folder.name}"
        if source and not layers:  # fast_align is run on each training text
            run += f"/{source.name}"
        return Run(
            id=run,
            study=self.study,
            seed=0,
            languages=tuple(Described(code, code) for code in self.text.pair),
            objective=source,
            layers=layers,
            main_layer=main_layer(layers) if layers else 0,
        )


def _score_aligner(step: Step, machine: Machine) -> None:
    config: GoldSetAligner = step.config
    text, left_out = config.text, Counter[str]()
    runs, records = list[Run](), list[Record]()
    machine.report(step.title, 0, 1)
    if config.encoder:
        encoder = Encoder(config.encoder, 0)
        second = SubWords(config.encoder).second_type
        runs = [config.run(step, Described(config.encoder.name, config.encoder.name), encoder.layers)]
        records, left_out = _score(
            config.encoder, runs[0], text, False, {False: 0, True: second}, machine, CHOICES
        )
    elif config.name == "diagonal":
        runs = [config.run(step)]
        records = [_record(runs[0], text, DIAGONAL, diagonal_score(text.set.pairs, text.set.gold))]
    else:
        own = text.own()
        corpora = {OWN: own}
        if text.text:
            corpora[MORE], left_out = text.pairs()
        for name, corpus in corpora.items():
            scores, dropped = fast_align_scores(own, text.set.gold, corpus)
            runs.append(config.run(step, Described(name, name)))
            records += [
                _record(runs[-1], text, FAST_ALIGN, score, symmetrisation=way)
                for way, score in scores.items()
            ]
            left_out += dropped
    write_measurement(step, Measurement(tuple(records), left_out), machine, runs)
    machine.report(step.title, 1, 1)
