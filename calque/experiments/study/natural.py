"""Natural languages in a study, and training an encoder on bitexts to align words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from calque.analysis.records.record import Described
from calque.derive.errors import BadInput, NoFile
from calque.derive.files import whole_folder, write_json
from calque.derive.fingerprint import fingerprint
from calque.derive.languages import FORMAT, KIND, SOURCE, NamePair
from calque.derive.natural import (
    BitextFiles,
    Rows,
    TextFiles,
    check_languages,
    derive_natural,
    natural_fingerprint,
)
from calque.derive.readers.parallel import TwoFiles
from calque.derive.vocabulary import open_vocabulary
from calque.experiments.run.step import Machine, Step, cached_method
from calque.experiments.study.languages import StudyData, StudyLanguages
from calque.experiments.study.measures import MEASURES, ExampleMeasure, ZeroShot
from calque.experiments.study.models import GivenModel, Group, Training, mistakes_in
from calque.experiments.study.tasks import Floors, NaturalExamples, language_mistakes
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.lazy import tensor_files
from calque.pretrain.model import HEADS
from calque.pretrain.objectives.linked_words import LABELLED, AlignerTraining
from calque.pretrain.run import CHECKPOINT, METRICS, read_metrics
from calque.pretrain.saved_model import (
    ALIGNER_LABELS,
    ALIGNER_LAYER,
    CONFIG,
    WEIGHTS,
    read_config,
    weights_file,
)

RECIPE = TrainConfig(
    steps=220, batch=8, learning_rate=5e-5, warmup=22, log_every=10, probe_every=0, save_every=50
)
"""The default settings for training an encoder to align words."""
LENGTH = 128  # ids per row, which contains both sides of a pair
FEWEST = 500  # minimum number of sentence pairs per bitext; fast_align learns little from less
# The settings that training changes and saving restores.
KEPT = ("architectures", "hidden_dropout_prob", "attention_probs_dropout_prob")


@dataclass(frozen=True)
class NaturalLanguages(StudyLanguages):
    """Text in natural languages and bitexts between them, encoded with the `vocabulary` of the study's start.
    Tasks are learnt in the language `source`. Sentences in `withheld` are excluded from text and bitexts.
    `table` specifies which types have embedding rows: `all`, or only those `used` in the text. `types` is the
    tokenizer's number of types, for plans made without the tokenizer."""

    former_fields: ClassVar[Mapping[str, Any]] = {"dictionaries": {}}
    scores = ZeroShot

    source: str = "en"
    texts: Mapping[str, TextFiles] = field(default_factory=dict)
    bitexts: Mapping[NamePair, tuple[BitextFiles, ...]] = field(default_factory=dict)
    withheld: TextFiles | None = None
    table: Rows = "used"
    types: int = 0
    vocabulary: Any = field(default=None, compare=False)  # the tokenizer's folder, in the config of a step

    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        names = [self.source, *self.texts]
        for measure in study.measures:
            names += getattr(measure, "same_sentences", ())
        read = study.given and study.objectives  # no text is needed if only the start is measured
        text = self.step(home, study.given.checkpoint) if read else None
        examples, floors = dict[str, Step](), list[Step]()
        for name, task in study.tasks.items():
            names += task.tests
            examples[name] = NaturalExamples(name, task, self.source).step(home)
            pairs = tuple((SOURCE, language) for language in (SOURCE, *task.tests))
            floors.append(Floors(examples[name], pairs, source=self.source).step(home))
        described = tuple(Described(name, name) for name in dict.fromkeys(names))
        groups = [Group("", text, tuple(self.texts), described)] if text else []
        return StudyData(groups, described, text, examples, floors)

    def facts(self, study: Any) -> dict[str, str]:
        return {"Mixture": study.mixture.title} if study.objectives else {}

    # The config of the step that encodes the text

    def step(self, home: Path, vocabulary: Path) -> Step:
        config, place = replace(self, vocabulary=vocabulary), home / "languages"
        return Step(config, place, "text and bitexts", "derive", KIND, FORMAT, spreads=True)

    def compute(self, step: Step, machine: Machine) -> None:
        inputs = self.texts, self.bitexts, self.vocabulary, step.folder, machine.workers, machine.report
        derive_natural(*inputs, self.table, self.withheld)

    def identity(self) -> str:
        return self._fingerprint(True)

    def language(self, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        occurring = self.table == "used"  # which types occur depends on all of the text
        return fingerprint(self._fingerprint(bitexts or occurring), name)

    @cached_method
    def _fingerprint(self, bitexts: bool) -> str:
        inputs = self.texts, self.bitexts if bitexts else {}, self.vocabulary, self.table, self.withheld
        return natural_fingerprint(*inputs)

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        if self.types and not self.vocabulary.exists():
            return self.types
        with suppress(NoFile):  # some of the text is missing
            if self.table == "used" and step.finished:
                return int(step.open().facts["vocabulary"]["rows"])
        return self._types

    @cached_property
    def _types(self) -> int:
        return open_vocabulary(self.vocabulary).size

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple(pair for pair in self.bitexts if set(pair) <= set(names))

    # Validation

    def mistakes(self, study: Any) -> Iterator[str]:
        if study.objectives:
            yield from self._text_mistakes(study)
        if study.paper != "xtreme":
            yield f"paper must be xtreme for these languages, not {study.paper}"
        for measure in study.measures:
            if measure in MEASURES.values() or isinstance(measure, ExampleMeasure):
                yield f"measures: {measure.name} applies only to derived languages"
        if study.mixture.disjoint:
            yield "mixture.disjoint applies only to derived languages"
        for name, task in study.tasks.items():
            yield from task.natural_mistakes(name, self.source)
        if not (study.tasks or any(measure.parts() for measure in study.measures)):
            yield "there is nothing to measure models on; add tasks, gold sets or same_sentences"
        yield from language_mistakes("source", [self.source])
        if self.vocabulary is not None:
            yield "vocabulary: text in natural languages is encoded with the tokenizer of start"
        for objective in study.objectives:
            if objective.traits.start:
                yield f"objectives: {objective.name} starts from another model, but this study trains none"
        if study.start is None:
            yield "start is missing: models of natural languages start from an encoder"
        elif study.start.exists() or not self.types:  # `calque plan` lists missing files
            yield from study.given.mistakes(study.model)
        if not study.measure_start:
            yield "measure_start must be true, because the report compares models with their start"

    def _text_mistakes(self, study: Any) -> Iterator[str]:
        if len(self.texts) < 2:
            yield f"texts need at least two languages, not {len(self.texts)}"
        if not self.bitexts:
            yield "bitexts need at least one pair of languages"
        yield from mistakes_in(check_languages, self.texts, self.bitexts)
        yield from (f"mixture.{mistake}" for mistake in study.mixture.mistakes(len(self.texts)))


# Training an encoder to align words


def trained_aligner(
    bitexts: Sequence[tuple[Path, Path]],
    objective: AlignerTraining,
    steps: int,
    start: GivenModel,
    home: Path,
) -> Training:
    """Return the settings to train an encoder on pairs of files. Raises BadInput for unsuitable input."""
    for source, target in bitexts:
        if (usable := sum(map(all, TwoFiles(source, target)))) < FEWEST:
            fault = f"{usable:,} sentence pairs; expected at least {FEWEST:,} in each bitext"
            raise BadInput(fault, source)
    saved = read_config(start.checkpoint)
    shape = saved.num_hidden_layers, saved.num_attention_heads, saved.hidden_size, saved.intermediate_size
    model = ModelConfig(*shape, length=LENGTH, dropout=0.0)
    if mistakes := [*objective.mistakes(model), *start.mistakes(model)]:
        raise BadInput(mistakes)
    texts, pairs = dict[str, TextFiles](), dict[NamePair, tuple[BitextFiles, ...]]()
    for number, (source, target) in enumerate(bitexts, start=1):
        first, second = f"source-{number}", f"target-{number}"
        texts |= {first: TextFiles((source,)), second: TextFiles((target,))}
        pairs[first, second] = (BitextFiles(source, target),)
    data = NaturalLanguages(texts=texts, bitexts=pairs).step(home, start.checkpoint)
    train = replace(RECIPE, steps=steps, warmup=steps // 10)
    return Training(data, tuple(texts), objective, model, train, 0, start)


def save_aligner(step: Step, out: Path) -> None:
    """Atomically write the trained encoder to a folder that transformers can load, with untrained tensors and
    other settings from its start. The configuration states the layer to align with and the kind of labels."""
    rows = (row for row in read_metrics(step.open().path(METRICS)) if "loss" in row)
    if not any(row["reported"][LABELLED] for row in rows):
        raise BadInput("no word has a label: are the files translations of each other?")
    start = step.config.start.checkpoint
    saved = read_config(start)
    base, head = "bert" if saved.model_type == "bert" else "roberta", HEADS[saved.model_type]
    start_config = json.loads((start / CONFIG).read_text(encoding="utf-8"))
    weights = {}
    for name, tensor in tensor_files.load_file(weights_file(start)).items():
        if "pooler." in name:
            weights[f"{base}.{name.removeprefix(f'{base}.')}"] = tensor
    for name, tensor in tensor_files.load_file(step.folder / CHECKPOINT / WEIGHTS).items():
        if step.config.start.has_head or not name.startswith(f"{head}."):
            weights[name] = tensor
    with whole_folder(out) as part:
        shutil.copytree(step.folder / CHECKPOINT, part, dirs_exist_ok=True)
        tensor_files.save_file(weights, part / WEIGHTS, {"format": "pt"})
        config = json.loads((part / CONFIG).read_text(encoding="utf-8"))
        config = {key: value for key, value in config.items() if key not in KEPT}
        config |= {key: value for key, value in start_config.items() if key in KEPT}
        layer = step.config.objective.main_layer(step.config.model.layers)
        aligner_settings = {ALIGNER_LAYER: layer, ALIGNER_LABELS: step.config.objective.labels}
        write_json(part / CONFIG, config | aligner_settings)
