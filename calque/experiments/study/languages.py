"""The languages in a study: a source and languages derived from it, or natural languages
(`experiments.study.natural`).

The config of the step that writes the languages' folder provides `language` (a fingerprint of one language,
without dictionaries or bitexts if a model does not read them), `rows_of` (the number of embedding rows for
some languages) and `pairs_of` (the language pairs with bitexts).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calque.analysis.records.record import Described
from calque.derive.build import Derivation, check_tags, derive_languages
from calque.derive.errors import BadInput, shown
from calque.derive.languages import FORMAT, KIND, SOURCE, NamePair
from calque.derive.transform import Transform, changes_script, check_parts, parts_of
from calque.derive.transforms import Rewrite
from calque.derive.vocabulary import SMALLEST, open_vocabulary
from calque.experiments.run.places import CACHE, name_mistakes
from calque.experiments.run.step import Machine, Step, cached_method
from calque.experiments.study.measures import ExampleMeasure, Transfer
from calque.experiments.study.models import Group, mistakes_in
from calque.experiments.study.tasks import DerivedExamples, Floors, data_of
from calque.pretrain.objective import Objective, PairObjective

TYPES = 10_000_000
THE_SOURCE = Described(SOURCE, "the source")


@dataclass(frozen=True)
class StudyData:
    """A study's inputs for a seed: `described` are a given model's languages; `floors` score baselines."""

    groups: Sequence[Group]
    described: tuple[Described, ...]
    text: Step | None = None
    examples: Mapping[str, Step] = field(default_factory=dict)
    floors: Sequence[Step] = ()


class StudyLanguages(ABC):
    derived = False  # whether the languages are derived from a source
    redraw = False  # whether each seed samples its own data
    bitexts: Mapping[NamePair, Any] = {}
    transforms: tuple[Transform, ...]  # of derived languages
    scores: type[Transfer] = Transfer  # the measure of a task

    @property
    def draws(self) -> tuple[str, ...]:
        """The data that each seed samples, in addition to initial weights and batches."""
        return ()

    @abstractmethod
    def mistakes(self, study: Any) -> Iterator[str]:
        """Yield the errors in the languages, and in values of the study that depend on them."""

    @abstractmethod
    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        """Return a study's data for a seed; `home` is the folder of steps."""

    @abstractmethod
    def facts(self, study: Any) -> dict[str, str]:
        """Return the settings of the languages, by title, for reports."""


def chain_of(objective: Objective) -> list[Objective]:
    """Return an objective, followed by the objective that it starts from, if any."""
    start = objective.traits.start
    return [objective, start[0]] if start else [objective]


def _tasks_with_examples(study: Any) -> list[str]:
    measured_tasks = [measure.task for measure in study.measures if isinstance(measure, ExampleMeasure)]
    return list(dict.fromkeys((*study.tasks, *measured_tasks)))


def vocabulary_mistakes(size: int) -> list[str]:
    """Return a message if a vocabulary of this size cannot be learnt."""
    if SMALLEST <= size <= TYPES:
        return []
    return [f"vocabulary must have {SMALLEST} to {TYPES:,} types, not {size:,}"]


@dataclass(frozen=True)
class DerivedLanguages(Derivation, StudyLanguages):
    """A source and the languages derived from it. With `redraw`, each seed also samples its own text,
    transforms and dictionary; seed 0 gives the same data as without `redraw`."""

    redraw: bool = False

    derived = True

    @property
    def names(self) -> list[str]:
        return [transform.name for transform in self.transforms]

    def named(self, name: str) -> tuple[Transform, ...]:
        return tuple(transform for transform in self.transforms if transform.name == name)

    @property
    def draws(self) -> tuple[str, ...]:
        return (*self.source.drawn, *self.dictionary.drawn) if self.redraw else ()

    def facts(self, study: Any) -> dict[str, str]:
        return {"Dictionary": self.dictionary.title}

    def data(self, study: Any, home: Path, seed: int) -> StudyData:
        if self.redraw:
            transforms = tuple(transform.reseeded(seed) for transform in self.transforms)
            parts = self.source.reseeded(seed), transforms, self.vocabulary, self.dictionary.reseeded(seed)
            return DerivedLanguages(*parts).data(study, home, seed)
        text = Step(self, home / "languages", "languages", "derive", KIND, FORMAT, spreads=True)
        examples = {name: DerivedExamples(name, self).step(home) for name in _tasks_with_examples(study)}
        pairs = (SOURCE, SOURCE), *((first, name) for name in self.names for first in (SOURCE, name))
        return StudyData(
            groups=[
                Group(transform.name, text, (transform.name,), (THE_SOURCE, Described.of(transform)))
                for transform in self.transforms
            ],
            described=(THE_SOURCE,),
            text=text,
            examples=examples,
            floors=[Floors(examples[name], pairs, text).step(home) for name in study.tasks],
        )

    # The config of the step that derives the languages

    def compute(self, step: Step, machine: Machine) -> None:
        cache = step.place.parent.parent / CACHE
        derive_languages(self, step.folder, cache, machine.workers, machine.report)

    def identity(self) -> str:
        return self._fingerprint(True)

    def language(self, name: str, dictionary: bool = True, bitexts: bool = True) -> str:
        return self._fingerprint(dictionary, name)

    @cached_method
    def _fingerprint(self, dictionary: bool, *names: str) -> str:
        return self.fingerprint(*names, dictionary=dictionary)

    def rows_of(self, step: Step, names: Sequence[str]) -> int:
        types = self.vocabulary if isinstance(self.vocabulary, int) else open_vocabulary(self.vocabulary).size
        return types * (1 + len(names))

    def pairs_of(self, names: Sequence[str]) -> tuple[NamePair, ...]:
        return tuple((SOURCE, name) for name in names)

    # Validation

    def mistakes(self, study: Any) -> Iterator[str]:
        yield from name_mistakes("transforms", self.names)
        if isinstance(self.vocabulary, int):
            yield from vocabulary_mistakes(self.vocabulary)
        else:
            what = "vocabulary must be a number of types or a tokenizer's folder: "
            yield from mistakes_in(open_vocabulary, self.vocabulary, what=what)
        yield from mistakes_in(check_tags, self.dictionary, self.source, what="dictionary: ")
        yield from self._transform_mistakes(study)
        if self.redraw and not self.draws:
            yield (
                "redraw has no effect: text and examples are read from files, and the dictionary contains "
                "the most frequent types, or all, or none"
            )
        if study.paper == "xtreme" and not study.measure_start:
            yield f"paper: {study.paper} is about natural languages, but this study's are derived"
        if study.given:
            yield from study.given.mistakes(study.model)
        yield from (f"mixture.{mistake}" for mistake in study.mixture.mistakes(2))
        yield from self._example_mistakes(study)

    def _transform_mistakes(self, study: Any) -> Iterator[str]:
        for transform in self.transforms:
            try:
                check_parts(transform)
                renamed = any(isinstance(part, Rewrite) for part in parts_of(transform))
                changed = changes_script(transform) or renamed
            except BadInput as error:
                yield f"transforms: {error}"
                continue
            translated = self.dictionary.fraction > 0 and changed
            for objective in study.objectives:
                if not translated and any(stage.traits.dictionary for stage in chain_of(objective)):
                    needed = f"{objective.name} needs dictionary pairs of different words"
                    advice = "use a new script, as in trans, or other objectives"
                    yield f"objectives: {needed}, but there are none under {transform.name}; {advice}"
        for objective in study.objectives if study.mixture.disjoint else ():
            parts = [part for stage in chain_of(objective) for part in stage.parts]
            if any(isinstance(part, PairObjective) for part in parts):
                fault = "learns from parallel sentences; mixture.disjoint leaves none"
                yield f"objectives: {objective.name} {fault}"

    def _example_mistakes(self, study: Any) -> Iterator[str]:
        for name, task in study.tasks.items():
            if task.files:
                yield f"tasks.{name}.files: examples in derived languages come from the source, not files"
        available, easy = self.source.tasks, getattr(self.source, "easy", None)
        kinds = [("source", name, data_of(name)) for name in _tasks_with_examples(study)]
        kinds += [("source.easy.tasks: source", name, name) for name in (easy.tasks if easy else ())]
        for what, name, kind in kinds:
            if kind not in available:
                known = ", ".join(available) or "none"
                yield f"{what} has no examples of {shown(name)}; available: {known}"
