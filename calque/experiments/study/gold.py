"""Gold sets of word links: their text, their measures, and aligners that the study does not train."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from calque.analysis.aligners import BY_NAME, DEFAULT, METHODS, OT, RELEASED
from calque.analysis.measures.word_alignment import (
    SETS,
    GoldSet,
    alone_and_joint,
    diagonal_score,
    fast_align_scores,
    gold_set,
    link_record,
)
from calque.analysis.records import json_rows
from calque.analysis.records.record import (
    DIAGONAL,
    FAST_ALIGN,
    RUNS,
    Described,
    MeasuredModel,
    Measurement,
    Record,
    Run,
)
from calque.derive.errors import unknown
from calque.derive.files import Artefact, digest
from calque.derive.fingerprint import ADDED, fingerprint, plain
from calque.derive.languages import FORMAT, KIND, SOURCE, NamePair
from calque.derive.natural import BitextFiles, read_all, write_translation
from calque.derive.readers.lines import EDITION, tokens
from calque.derive.readers.parallel import Pair
from calque.derive.vocabulary import open_vocabulary
from calque.experiments.run.places import name_mistakes
from calque.experiments.run.step import Machine, Step
from calque.experiments.study.languages import (
    THE_SOURCE,
    StudyData,
    StudyLanguages,
    only_derived,
    vocabulary_mistakes,
)
from calque.experiments.study.measures import Measure, write_measurement
from calque.experiments.study.models import Group, Model
from calque.pretrain.model import main_layer
from calque.pretrain.saved_model import read_config

USUAL = DEFAULT.name, RELEASED.name, OT.name  # the default alignment methods
OWN, MORE = "own sentences", "own + parallel"
"""fast_align's training text: only the gold set's sentences, or also the parallel text."""
GOLD_FORMAT = 2  # increased when a code change gives different sentences from the same files


@dataclass(frozen=True)
class GoldText:
    """The gold set `name` in `gold`, and parallel text, with a joint vocabulary of `vocabulary` types."""

    gold: Path
    name: str
    text: tuple[BitextFiles, ...] = ()
    vocabulary: int = 0

    @cached_property
    def set(self) -> GoldSet:
        return gold_set(self.gold, self.name)

    @property
    def pair(self) -> NamePair:
        first, _, second = self.name.partition("-")
        return first, second

    @property
    def described(self) -> tuple[Described, ...]:
        return tuple(Described(code, code) for code in self.pair)

    def step(self, home: Path) -> Step:
        place, title = home / self.name / "languages", f"languages {self.name}"
        return Step(self, place, title, "derive", KIND, FORMAT)

    def compute(self, step: Step, machine: Machine) -> None:
        write_translation(self.pairs()[0], self.pair[1], self.vocabulary, step.folder)

    def identity(self) -> dict[str, Any]:
        return {"text": self.digest, "vocabulary": self.vocabulary}

    def language(self, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        return fingerprint(KIND, FORMAT, self.identity())  # both languages share a vocabulary

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        return self.vocabulary

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple((SOURCE, name) for name in names)

    @cached_property
    def digest(self) -> str:
        files = [[digest(path) if path.is_file() else "" for path in source.paths] for source in self.text]
        switches = [(source.columns, False) for source in self.text]
        return fingerprint(GOLD_FORMAT, EDITION, self.gold_digests, files, switches)

    @cached_property
    def gold_digests(self) -> list[str]:
        return [self.name, *map(digest, _files_in(self.gold / self.name))]

    def own(self) -> list[Pair]:
        """Return the set's sentence pairs in lower case."""
        pairs = self.set.pairs
        return [(tuple(map(str.lower, source)), tuple(map(str.lower, target))) for source, target in pairs]

    def pairs(self) -> tuple[list[Pair], Counter[str]]:
        """Return the set's and the parallel text's distinct pairs, and how many were left out and kept."""
        left_out, all_pairs = Counter[str](), self.own()
        for text in self.text:
            for columns in read_all(replace(text, words_in=self.pair), left_out):
                sides = ([tuple(tokens(line)) for line in column] for column in columns)
                all_pairs += zip(*sides, strict=True)
        distinct = list(dict.fromkeys(all_pairs))
        left_out["sentence pairs that were there already"] = len(all_pairs) - len(distinct)
        left_out["sentence pairs learnt from"] = len(distinct)
        return distinct, left_out


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file())


@dataclass(frozen=True)
class GoldPairs(StudyLanguages):
    """The gold sets in the folder `gold`; models also read the parallel text that `text` maps them to."""

    gold: Path
    text: Mapping[str, tuple[BitextFiles, ...]]
    vocabulary: int
    sets: tuple[str, ...] = SETS

    gold_sets = True

    def facts(self, study: Any) -> dict[str, str]:
        vocabulary = f"{self.vocabulary:,} types, byte-level BPE, both languages in one"
        return {"Vocabulary": vocabulary, "Encoder given": str(study.encoder or "none")}

    def of_set(self, name: str) -> GoldText:
        return GoldText(self.gold, name, self.text.get(name, ()), self.vocabulary)

    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        texts = list(map(self.of_set, self.text))
        groups = [Group(text.name, text.step(home), text.pair[1:], text.described) for text in texts]
        encoders = [("encoder", study.encoder)] if study.encoder else []
        steps = [
            GoldSetAligner(name, self.of_set(set_name), study.name, encoder).step(home, study.threads)
            for name, encoder in (("diagonal", None), ("fast_align", None), *encoders)
            for set_name in self.sets
        ]
        return StudyData(groups, (THE_SOURCE,), aligners=steps)

    def mistakes(self, study: Any) -> Iterator[str]:
        yield from (*name_mistakes("sets", self.sets), *vocabulary_mistakes(self.vocabulary))
        if unknown_sets := sorted(set(self.text) - set(self.sets)):
            yield f"text: {', '.join(unknown_sets)} is not among the sets"
        yield from only_derived(study, "links")
        if len(study.seeds) > 1:
            yield f"seeds: tables on gold sets can show only one seed, not {len(study.seeds)}"
        encoder = study.encoder
        if encoder and not (encoder / "config.json").is_file():
            yield f"encoder must be a folder that transformers can load, but {encoder} has no config.json"


@dataclass(frozen=True)
class GoldLinks(Measure):
    """The AER of each layer on gold sets, by several methods, the main one first, with sentences alone."""

    gold: Path
    sets: tuple[str, ...] = SETS
    methods: tuple[str, ...] = field(default=USUAL, metadata=ADDED)
    name: str = field(default="links", compare=False)

    any_model = True

    def parts(self) -> Sequence[GoldLinks]:
        return [replace(self, sets=(name,), name=f"links-{name}") for name in self.sets]

    @property
    def texts(self) -> list[GoldText]:
        return [GoldText(self.gold, name) for name in self.sets]

    def mistakes(self, study: Any) -> list[str]:
        wrong = name_mistakes("sets", self.sets, least=0)
        return wrong + [unknown("method", name, BY_NAME) for name in self.methods if name not in BY_NAME]

    def settings(self, model: Model) -> Any:
        methods = {} if self.methods == USUAL else {"methods": self.methods}
        return {"kind": "GoldSetLinks", "text": plain(self.texts[0]), **methods}  # as in finished folders

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        methods, (text,) = [BY_NAME[name] for name in self.methods], self.texts
        return alone_and_joint(model.measured(machine), text.set, {False: 0}, methods, (), True)


@dataclass(frozen=True)
class EncoderLinks(Measure):
    """The AER of each layer of a model of a gold set's languages, with sentences alone and joint."""

    name = "links"
    format = 3

    def settings(self, model: Model) -> Any:
        return model.training.data.config.gold_digests

    def __call__(self, model: Model, machine: Machine) -> Measurement:
        text: GoldText = model.training.data.config
        exclusions = Counter(model.step.open().facts["left out"])
        second = int(model.training.objective.traits.language_embeddings)
        measured_model = MeasuredModel(model.checkpoint, model.run.id, device=str(machine.world.device))
        gold = replace(text.set, pairs=tuple(text.own()))
        links = alone_and_joint(measured_model, gold, {False: second, True: second}, (OT, RELEASED))
        return replace(links, exclusions=exclusions + links.exclusions)


@dataclass(frozen=True)
class GoldSetAligner:
    """An aligner for one gold set that does not use a model trained in `study`. `name` is `diagonal` (each
    target word is linked to the source word at the same relative position), `fast_align` (trained once on the
    set's sentences, and once on these and the parallel text), or `encoder` (with each method at each
    layer)."""

    name: str
    text: GoldText
    study: str
    encoder: Path | None = None

    def identity(self) -> Any:
        gold = self.text.gold_digests
        if self.encoder:
            return {"gold": gold, "encoder": {path.name: digest(path) for path in _files_in(self.encoder)}}
        return {"gold": gold, "text": self.text.digest} if self.name == "fast_align" else gold

    def step(self, home: Path, threads: int) -> Step:
        title = f"{self.encoder.name if self.encoder else self.name} {self.text.name}"
        place, format = home / self.text.name / self.name, 5 if self.encoder else 1
        return Step(self, place, title, "evaluate", "records", format, threads)

    def compute(self, step: Step, machine: Machine) -> None:
        run = Run(f"{self.text.name}/{step.folder.name}", self.study, 0, self.text.described)
        runs, measurement = self._score(run, str(machine.world.device))
        write_measurement(step, measurement, machine, runs)

    def runs(self, measured: Artefact) -> list[Run]:
        rows = json_rows.read(measured.path(RUNS), Run)
        return [replace(run, study=self.study) for run in rows]  # another study may have computed the step

    def _score(self, run: Run, device: str) -> tuple[list[Run], Measurement]:
        gold = self.text.set
        if self.encoder:
            layers, name = read_config(self.encoder).num_hidden_layers, self.encoder.name
            second = int(open_vocabulary(self.encoder).is_bert)  # BERT's token type
            run = replace(run, objective=Described(name, name), layers=layers, main_layer=main_layer(layers))
            model = MeasuredModel(self.encoder, run.id, device=device)
            return [run], alone_and_joint(model, gold, {False: 0, True: second}, METHODS)
        if self.name == "diagonal":
            record = self._record(run, DIAGONAL, diagonal_score(gold.pairs, gold.gold))
            return [run], Measurement((record,))
        gold_pairs, left_out = self.text.own(), Counter[str]()
        runs, records, corpora = list[Run](), list[Record](), {OWN: gold_pairs}
        if self.text.text:
            corpora[MORE], left_out = self.text.pairs()
        for name, corpus in corpora.items():
            scores, exclusions = fast_align_scores(gold_pairs, gold.gold, corpus)
            left_out += exclusions
            runs.append(replace(run, id=f"{run.id}/{name}", objective=Described(name, name)))
            records += [self._record(runs[-1], FAST_ALIGN, scores[way], symmetrisation=way) for way in scores]
        return runs, Measurement(tuple(records), left_out)

    def _record(self, run: Run, aligner: str, counts: Any, **fields: object) -> Record:
        return link_record(MeasuredModel(Path(), run.id), self.text.name, aligner, counts, **fields)
