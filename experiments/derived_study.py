"""What studies of derived languages have in common: text, examples of tasks, and values that may be wrong."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from analysis.tasks.finetune import FinetuneConfig
from derive.build import trial_image
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.language import SOURCE
from derive.source import Source
from derive.transform import Transform
from derive.unknown import shown
from derive.vocabulary import GivenVocabulary
from experiments.account import of_languages, of_task
from experiments.facts import counted
from experiments.places import CACHE
from experiments.steps.floors import DerivedFloors
from experiments.steps.languages import SAMPLE, DeriveLanguages
from experiments.steps.task_data import DeriveTask
from experiments.study import Study, masked_wrongly, named_wrongly, sized_wrongly
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective


class DerivedStudy(Study):
    """A study whose languages are a source and its images under `transforms`.

    `vocabulary` is how many types are learnt from the source, or the folder of a tokenizer, whose types they are.
    """

    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | Path
    dictionary: DictionaryConfig
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    model: ModelConfig
    train: TrainConfig

    @property
    def scale(self) -> str:
        layers = counted(self.model.layers, "layer")
        return f"{self.source.title}; RoBERTa of {layers}, width {self.model.hidden}"

    @property
    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """The tasks whose examples are derived."""

    def languages(self, root: Path) -> DeriveLanguages:
        """The step that derives the languages."""
        types = GivenVocabulary(self.vocabulary) if isinstance(self.vocabulary, Path) else self.vocabulary
        return DeriveLanguages(self.home(root), root / CACHE, self.source, self.transforms, types, self.dictionary)

    def examples(self, root: Path) -> list[DeriveTask]:
        """The steps that derive the tasks' examples, in the order of `tasks`."""
        home, cache = self.home(root), root / CACHE
        return [DeriveTask(home, cache, self.source, task, self.transforms) for task in self.tasks]

    def floors(self, root: Path) -> list[DerivedFloors]:
        """The steps that score baselines: learnt in the language that is tested, and between it and the source."""
        languages, names = self.languages(root), [transform.name for transform in self.transforms]
        pairs = ((SOURCE, SOURCE), *(pair for name in names for pair in self.floor_pairs(name)))
        examples = zip(self.tasks, self.examples(root), strict=True)
        return [DerivedFloors(self.home(root), task, pairs, languages, step) for task, step in examples]

    def floor_pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """What is learnt from and tested in for a derived language, as its models are."""
        return (SOURCE, name), (name, name)

    def of_derivation(self, root: Path) -> list[str]:
        """What came in and went out, and what was left out, when languages and examples were derived."""
        tasks = (step.open().facts for step in self.examples(root))
        return [*of_languages(self.languages(root).open().facts), *(line for facts in tasks for line in of_task(facts))]

    def account(self, root: Path) -> list[str]:
        previews = [f"{step.folder}: read preview.txt" for step in (self.languages(root), *self.examples(root))]
        return [*self.of_derivation(root), *previews]

    def mistakes(self) -> list[str]:
        wrong = [f"model.{mistake}" for mistake in self.model.mistakes()]
        wrong += [f"train.{mistake}" for mistake in self.train.mistakes()]
        wrong += named_wrongly("transforms", [transform.name for transform in self.transforms])
        wrong += named_wrongly("objectives", [objective.name for objective in self.objectives])
        wrong += named_wrongly("seeds", [str(seed) for seed in self.seeds])
        wrong += sized_wrongly(self.threads, self.vocabulary, self.seeds)
        wrong += [mistake for objective in self.objectives for mistake in objective.mistakes(self.model)]
        wrong += masked_wrongly("objectives", self.objectives)
        for transform in self.transforms:
            try:
                trial_image(transform, SAMPLE)
            except ValueError as error:
                wrong.append(f"transforms: {error}")
        try:
            self.source.questions()
        except BadInput as error:
            wrong.append(f"source: {error}")
        if lacking := [task for task in self.tasks if task not in self.source.tasks]:
            there = ", ".join(self.source.tasks) or "none"
            wrong.append(f"source has no examples of {', '.join(map(shown, lacking))}; there are {there}")
        return wrong


def finetuned_wrongly(finetune: Mapping[str, FinetuneConfig]) -> list[str]:
    """What is wrong with how models are fine-tuned, by the tasks."""
    return [f"finetune.{task}.{mistake}" for task, config in finetune.items() for mistake in config.mistakes()]
