"""Zero-shot transfer between natural languages: a task is learnt in one of them and tested in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.records.record import IN_SOURCE, SWITCHED, MeasuredModel, Measurement, Record
from analysis.tasks.finetune import FinetuneConfig, check_types
from analysis.tasks.rows import Reader
from analysis.tasks.split import Split, check
from analysis.tasks.task import Task
from analysis.tasks.transfer import Evaluated, TaskSet, evaluate
from derive.errors import BadInput
from derive.language import SOURCE
from derive.readers.conllu import WORDS, Units
from derive.task_data import TaskFolder

ZERO_SHOT = "ZS"
"""The way to learn from the source alone."""


@dataclass(frozen=True)
class ScoredTask:
    """A task learnt in the source and tested in it and in `languages`; `units` are those of its tags."""

    task: Task
    examples: TaskFolder
    languages: tuple[str, ...]
    units: Units = WORDS

    def sets(
        self, source: str, reader: Reader, split: str = "test", names: Sequence[str] | None = None
    ) -> dict[str, TaskSet]:
        """The sets of a split by language, the source's first; `names` are the other languages, if not all."""
        paths = {name: self.examples.path(split, name) for name in (self.languages if names is None else names)}
        paths = {source: self.examples.path(split), **paths}
        return {name: TaskSet(Split(path, self.task.in_language(name)), reader) for name, path in paths.items()}


@dataclass(frozen=True)
class LearningWay:
    """How models learn a task in natural languages: the settings to choose from, and which examples.

    With several `configs` the best on the joint validation set of Chi et al. (2021) is chosen: the dev sets of the
    source and of `devs`; with a single one nothing is selected on any set. A model learns from the training sets of
    `translations` too, and, by the way TT-CS, from pairs with a text of the source and one of each of them (Pan et al.
    2021). On a learning curve (`on_curve`) records say how many examples it learnt from: a `sample`, or all.
    """

    configs: tuple[FinetuneConfig, ...]
    name: str = ZERO_SHOT
    devs: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    on_curve: bool = False
    sample: int = 0


def zero_shot(
    model: MeasuredModel,
    tasks: Sequence[ScoredTask],
    source: str,
    way: LearningWay,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Measurement:
    """Every metric of a task on the test set of `source` and on those of other languages, all by one model.

    It learns the first of `tasks`; the others, if any, have the same training examples. Words become ids by the
    checkpoint's own tokenizer: tagged ones each as after a space, others in their text. The files are the predictions,
    as in XTREME's submissions.

    Raises:
        BadInput: the checkpoint or the data are missing, do not fit each other, or are damaged, or the task cannot be
            scored in a language.
    """
    first = tasks[0]
    train = Split(first.examples.path("train"), first.task)
    for other in tasks[1:]:
        _check_same_training(train, other)
    reader = Reader.of_checkpoint(model.checkpoint)
    tests = {(its.task.name, name): each for its in tasks for name, each in its.sets(source, reader).items()}
    dev = list(first.sets(source, reader, "dev", way.devs).values()) if len(way.configs) > 1 else []
    check_types(model.checkpoint, len(reader.table) - 1)
    translations = [Split(first.examples.path("train", name), first.task) for name in way.translations]
    labels = check(train, [*translations, *(each.split for each in (*tests.values(), *dev))])
    for split in translations:
        train.check_translation(split)
    learnt = [TaskSet(split, reader) for split in (train, *translations)]
    switching = way.name == SWITCHED
    evaluated = evaluate(model, learnt, tests, labels, way.configs, progress, dev, switching, way.sample)
    return _across(model, tasks, source, way, evaluated)


def _across(
    model: MeasuredModel,
    tasks: Sequence[ScoredTask],
    source: str,
    way: LearningWay,
    evaluated: Evaluated[tuple[str, str]],
) -> Measurement:
    """Records, exclusions and files of predictions of natural languages."""
    by_name = {its.task.name: its for its in tasks}
    without = "whose answers have no sub-words"
    # The cut examples of a sample are not counted.
    exclusions = Counter({"training examples that do not fit into one row": 0 if way.sample else evaluated.cut})
    exclusions[f"training examples {without}, left out"] = evaluated.unlabelled
    records, files = list[Record](), dict[str, str]()
    for (name, language), tested in evaluated.tested.items():
        its, in_source = by_name[name], language == source
        measure = ("SRC" if way.name == ZERO_SHOT else way.name + IN_SOURCE) if in_source else way.name
        learnt = evaluated.examples if way.on_curve else 0
        about = {"language": language, "task": name, "units": its.units, "examples": learnt}
        records += [
            model.record(measure, metric, score.value, score.count, items=score.items, **about)
            for metric, score in tested.scores.items()
        ]
        # The task of a single one is known from the folder of the records.
        which = f"examples of {name}, {language}" if len(tasks) > 1 else f"examples of {language}"
        exclusions[f"{which} that do not fit into one row"] = tested.cut
        exclusions[f"{which} {without}"] = tested.unlabelled
        examples = its.examples.examples("test", SOURCE if in_source else language)
        path, text = its.task.submission(language, examples, tested.answers, its.units)
        files[path] = text
    return Measurement(tuple(records), exclusions, files, {"chosen": evaluated.chosen, "dev": list(evaluated.dev)})


def _check_same_training(train: Split, other: ScoredTask) -> None:
    """Refuse a task that is tested with the model of another but has other training examples."""
    path = other.examples.path("train")
    if path.read_bytes() != train.path.read_bytes():
        raise BadInput(
            f"not the training examples of {train.task.name}, whose model answers {other.task.name} too", path
        )
