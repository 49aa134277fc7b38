"""Transfer: fine-tuning a checkpoint on some sets of a task and testing it on others.

`evaluate` does this; the functions below it choose the sets, in derived languages and in natural ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from sys import intern
from typing import Any

from calque.analysis.records.record import (
    DELTA,
    ENTRY,
    IN_SOURCE,
    NO_ENTRY,
    SWITCHED,
    TRANSLATED,
    MeasuredModel,
    Measurement,
    Record,
)
from calque.analysis.tasks.baselines import Answer
from calque.analysis.tasks.finetune import FinetuneConfig, Finetuned, check_types, finetune, longest_row
from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.score import OF, Score
from calque.analysis.tasks.split import EncodedSet, Split, check, together
from calque.analysis.tasks.tagging import Tagging, words_of
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput
from calque.derive.language import SOURCE
from calque.derive.languages import Languages
from calque.derive.readers.conllu import WORDS, Units
from calque.derive.source import SPLITS
from calque.derive.task_data import TaskFolder
from calque.derive.vocabulary import GivenVocabulary
from calque.pretrain.lazy import torch

COMPARED = ("SUP", "ZS", TRANSLATED, SWITCHED)  # measures whose records have the contribution of each test item
Progress = Callable[[str, int, int], None]  # called with a title ("pos SUP"), the step and the number of steps


@dataclass(frozen=True)
class TaskSet:
    """Examples of a task in one language, and how the words of that language become ids."""

    split: Split
    reader: Reader


@dataclass(frozen=True)
class Predictions:
    """The predictions for the `size` examples of a set, in their order, and the score of each metric. `cut` counts
    examples that do not fit into one row, `unlabelled` examples whose answers have no sub-words."""

    scores: Mapping[str, Score]
    answers: Sequence[Answer]
    size: int
    cut: int
    unlabelled: int


@dataclass(frozen=True)
class Evaluated:
    """The predictions for each test set, by its key; the number of the chosen setting, and every setting's dev score.
    The model learnt from `examples`, and `cut` of them did not fit into one row; `unlabelled` more were left out,
    because their answers have no sub-words."""

    tested: Mapping[Any, Predictions]
    chosen: int
    dev: Sequence[float]
    examples: int
    cut: int
    unlabelled: int


def evaluate(
    model: MeasuredModel,
    train: Sequence[TaskSet],
    tests: Mapping[Any, TaskSet],
    labels: Sequence[str],
    configs: Sequence[FinetuneConfig],
    progress: Callable[[int, int], None],
    dev: Sequence[TaskSet] = (),
    switching: bool = False,
    sample: int = 0,
) -> Evaluated:
    """Fine-tune on the first set of `train` and its translations, the others, and test the model of the last epoch.
    With `switching` it also learns from code-switched pairs; a `sample` above 0 is the number of examples. With several
    `configs` the one with the best mean of the main metric over the `dev` sets is chosen, the first of equals. A set is
    in memory as rows, only while needed. Raises BadInput if checkpoint or data are missing, damaged or do not match."""
    task, device = train[0].split.task, torch.device(model.device)
    best, scores, encoded = -1, list[float](), 0  # `encoded`: the length of the rows in memory
    tuned: Finetuned | None = None
    for number, config in enumerate(configs):
        if (length := longest_row(model.checkpoint, config)) != encoded:
            rows, unlabelled = _training_rows(train, labels, length, switching, sample)
            encoded = length

        def report(step: int, steps: int, number: int = number) -> None:
            progress(number * steps + step, len(configs) * steps)

        trained = finetune(model.checkpoint, rows, task.head, len(labels), config, model.seed, device, report)
        if dev:
            scores.append(fmean(_test(trained, each, labels, length).scores[task.primary].value for each in dev))
        if tuned is None or scores[-1] > scores[best]:
            best, tuned = number, trained
        del trained
    assert tuned is not None
    examples, cut = len(rows.counts), rows.cut
    del rows
    length = longest_row(model.checkpoint, configs[best])
    tested = {key: _test(tuned, each, labels, length) for key, each in tests.items()}
    return Evaluated(tested, best, scores, examples, cut, unlabelled)


def _training_rows(
    train: Sequence[TaskSet], labels: Sequence[str], length: int, switching: bool, sample: int
) -> tuple[EncodedSet, int]:
    """The examples with an answer that can be learnt, or a sample of them, and the number without one."""
    first, *translations = train
    parts = [each.split.encode(labels, each.reader, length) for each in train]
    for each in translations if switching else ():
        parts.append(first.split.switched(each.split, labels, (first.reader, each.reader), length))
    rows = together(*parts)
    unlabelled, rows = int(rows.unlabelled.sum()), rows.labelled()
    if not rows.rows:
        raise BadInput("none of its answers has sub-words of the tokenizer", first.split.path)
    try:
        return rows.sample(sample) if sample else rows, unlabelled
    except ValueError as error:
        raise BadInput(f"a learning curve of {error}", first.split.path) from None


def _test(model: Finetuned, test: TaskSet, labels: Sequence[str], length: int) -> Predictions:
    """Every metric of a fine-tuned model on a set, the main one also over the examples of each diagnostic."""
    split = test.split
    rows = split.encode(labels, test.reader, length)
    answers, gold = split.decode(rows, model.answers(rows), labels), split.gold
    diagnostics = [intern(example.diagnostic) for example, _ in split]  # what each example tests, empty without any
    scores = split.task.scores(gold, answers) | by_diagnostic(split.task, gold, answers, diagnostics)
    return Predictions(scores, answers, len(rows.counts), rows.cut, int(rows.unlabelled.sum()))


def by_diagnostic(
    task: Task, gold: Sequence[Answer], predicted: Sequence[Answer], diagnostics: Sequence[str]
) -> dict[str, Score]:
    """The main metric over the examples of each diagnostic, as `metric of diagnostic`; empty if none has one."""
    scores = {}
    for name in sorted(set(diagnostics) - {""}):
        own = [i for i, diagnostic in enumerate(diagnostics) if diagnostic == name]
        score = task.scores([gold[i] for i in own], [predicted[i] for i in own])[task.primary]
        scores[f"{task.primary}{OF}{name}"] = score
    return scores


def by_entry(split: Split, answers: Sequence[Answer], languages: Languages, language: str) -> dict[str, Score]:
    """Accuracy over the words of a tagged set that are one type with an entry in the dictionary of the source and
    `language`, and over those without. Words of several sub-words and words that both languages share are in neither;
    empty without a dictionary."""
    if (SOURCE, language) not in languages.dictionaries:
        return {}
    images, entries = languages[language].images, {*languages.dictionary(SOURCE, language)[:, 1].tolist()}

    def group(word: str) -> str:
        pieces = languages.vocabulary.encode(word)
        image = int(images[pieces[0]])
        if len(pieces) > 1 or image in (-1, pieces[0]):
            return ""
        return ENTRY if image in entries else NO_ENTRY

    hits: dict[str, list[int]] = {ENTRY: [], NO_ENTRY: []}
    of: dict[str, list[int]] = {ENTRY: [], NO_ENTRY: []}
    for (example, gold), predicted in zip(split, answers, strict=True):
        groups = [group(word) for word in words_of(example)]
        correct = [right == tag for right, tag in zip(gold, predicted, strict=True)]
        for name in hits:
            inside = [hit for hit, other in zip(correct, groups, strict=True) if other == name]
            hits[name].append(sum(inside))
            of[name].append(len(inside))
    return {name: Score.over(hits[name], of[name], sum(of[name])) for name in hits if sum(of[name])}


@dataclass(frozen=True)
class DerivedTask:
    """A task in the `languages` that a model knows, with its `examples` in them and the settings of fine-tuning."""

    task: Task
    languages: Languages
    examples: TaskFolder
    config: FinetuneConfig


@dataclass(frozen=True)
class Lesson:
    """One fine-tuned model of a study: the languages that it learns, and the measure of each set that it is tested on.
    `tests` has (split, test language) by (measure, `language`, `first`), the latter two as in records."""

    title: str
    learnt: tuple[str, ...]
    tests: Mapping[tuple[str, str, str], tuple[str, str]]
    switching: bool = False


def transfer(model: MeasuredModel, data: DerivedTask, progress: Progress = lambda *_: None) -> Measurement:
    """Every metric of one task on the source and the model's derived language. SRC, ZS and DEV are one model,
    fine-tuned on the source and scored on the source's test set, the derived language's, and the source's dev set,
    which is unused here: choose learning rates by it. SUP is fine-tuned and scored on the derived language. CUT is the
    fraction of a split's source examples that do not fit into one row, as in the derived language. DELTA is SUP -
    ZS."""
    derived = model.language
    of_source = {
        ("SRC", derived, ""): ("test", SOURCE),
        ("ZS", derived, ""): ("test", derived),
        ("DEV", derived, ""): ("dev", SOURCE),
    }
    of_derived = {("SUP", derived, ""): ("test", derived)}
    lessons = Lesson("SRC", (SOURCE,), of_source), Lesson("SUP", (derived,), of_derived)
    records, cut = _lessons(model, data, lessons, progress)
    for split in SPLITS:
        score = cut[split, SOURCE]
        records.append(model.record("CUT", "fraction", score.value, score.count, task=data.task.name, split=split))
    return Measurement(tuple(records + deltas(records)))


def translate_train(
    model: MeasuredModel, data: DerivedTask, way: str, progress: Progress = lambda *_: None
) -> Measurement:
    """Every metric of one task after translate-train, on the derived language's test set and on the source's. `way` is
    TT, fine-tuned on the source's training set and on its derivation, or TT-CS: also on the two code-switched pairs of
    every example (Pan et al. 2021). The rest is as in `transfer`."""
    derived = model.language
    tests = {(way, derived, ""): ("test", derived), (way + IN_SOURCE, derived, ""): ("test", SOURCE)}
    lesson = Lesson(way, (SOURCE, derived), tests, way == SWITCHED)
    return Measurement(tuple(_lessons(model, data, [lesson], progress)[0]))


def pair_transfer(
    model: MeasuredModel, data: DerivedTask, pairs: Sequence[tuple[str, str]], progress: Progress = lambda *_: None
) -> Measurement:
    """Every metric of one task on ordered pairs of a model's languages. A model is fine-tuned on the first language of
    each pair, once, and scored on the second's test set: ZS, or SUP if both are the same. CUT is over the sets used."""
    lessons = []
    for first in dict.fromkeys(first for first, _ in pairs):
        tests = {}
        for second in (second for other, second in pairs if other == first):
            key = ("SUP", second, "") if first == second else ("ZS", second, "" if first == SOURCE else first)
            tests[key] = ("test", second)
        lessons.append(Lesson(first, (first,), tests))
    records, cut = _lessons(model, data, lessons, progress)
    for (split, language), score in sorted(cut.items()):
        about = {"task": data.task.name, "split": split, "language": language}
        records.append(model.record("CUT", "fraction", score.value, score.count, **about))
    return Measurement(tuple(records))


def _lessons(
    model: MeasuredModel, data: DerivedTask, lessons: Sequence[Lesson], progress: Progress
) -> tuple[list[Record], dict[tuple[str, str], Score]]:
    """Records of derived languages, and the fraction of each (split, language) that does not fit into one row. All sets
    are checked before anything is trained; the derived dev sets are not used."""
    task, examples = data.task, data.examples
    learnt = [name for lesson in lessons for name in lesson.learnt]
    names = dict.fromkeys([*learnt, *(name for lesson in lessons for _, name in lesson.tests.values())])
    readers = {name: Reader.of(data.languages, name) for name in names}
    check_types(model.checkpoint, max(int(reader.table.max()) for reader in readers.values()))
    splits = {(split, SOURCE): Split(examples.path(split), task) for split in SPLITS}
    for name in (name for name in names if name != SOURCE):
        splits |= {(split, name): Split(examples.path(split, name), task) for split in ("train", "test")}
    sets = {place: TaskSet(split, readers[place[1]]) for place, split in splits.items() if place[1] in readers}
    labels = check(splits["train", SOURCE], splits.values())
    for lesson in lessons:
        for name in lesson.learnt[1:]:
            splits["train", lesson.learnt[0]].check_translation(splits["train", name])
    records, cut = list[Record](), dict[tuple[str, str], Score]()
    for lesson in lessons:
        train = [sets["train", name] for name in lesson.learnt]
        tests = {key: sets[place] for key, place in lesson.tests.items()}
        report = partial(progress, f"{task.name} {lesson.title}")
        evaluated = evaluate(model, train, tests, labels, [data.config], report, switching=lesson.switching)
        size = evaluated.examples + evaluated.unlabelled
        cut["train", lesson.learnt[0]] = Score.over([evaluated.cut], [size], size)
        for (measure, language, first), tested in evaluated.tested.items():
            cut[lesson.tests[measure, language, first]] = Score.over([tested.cut], [tested.size], tested.size)
            about = {"task": task.name, "language": language, "first": first}
            scores = dict(tested.scores)
            if measure in ("ZS", "SUP") and isinstance(task, Tagging):
                scores |= by_entry(sets["test", language].split, tested.answers, data.languages, language)
            for metric, score in scores.items():
                items = score.items if measure in COMPARED else None
                records.append(model.record(measure, metric, score.value, score.count, items=items, **about))
    return records, cut


def deltas(records: Iterable[Record]) -> list[Record]:
    """DELTA = SUP - ZS of every metric that has both, with the count of SUP; small is good transfer."""
    # SUP and ZS have everything in common except the measure and the number.
    keyed = [(record, replace(record, measure=DELTA, value=0.0, count=0, items=None)) for record in records]
    zero_shot = {common: record.value for record, common in keyed if record.measure == "ZS"}
    if len(zero_shot) < sum(record.measure == "ZS" for record, _ in keyed):
        raise ValueError("two zero-shot records of one number")
    return [
        replace(common, value=record.value - zero_shot[common], count=record.count)
        for record, common in keyed
        if record.measure == "SUP" and common in zero_shot
    ]


@dataclass(frozen=True)
class NaturalTask:
    """A task learnt in the language `source` and tested in it and in `languages`; `units` are the units of its tags."""

    task: Task
    examples: TaskFolder
    source: str
    languages: tuple[str, ...]
    units: Units = WORDS

    def sets(self, split: str, languages: Sequence[str], reader: Reader) -> dict[str, TaskSet]:
        """The sets of a split by language, the source's first."""
        paths = {self.source: self.examples.path(split)}
        paths |= {name: self.examples.path(split, name) for name in languages}
        return {name: TaskSet(Split(path, self.task.in_language(name)), reader) for name, path in paths.items()}


@dataclass(frozen=True)
class LearningWay:
    """How models learn a task in natural languages: settings to choose from, and examples. With several `configs`
    the best on the joint validation set of Chi et al. (2021) is chosen: the dev sets of the source and of `devs`; with
    a single one nothing is selected on any set. A model also learns from the training sets of `translations` and, by
    the way TT-CS, from code-switched pairs of the source and each of them (Pan et al. 2021). On a learning curve
    (`on_curve`) records have the number of training examples: a `sample`, or all."""

    configs: tuple[FinetuneConfig, ...]
    name: str
    devs: tuple[str, ...]
    translations: tuple[str, ...]
    on_curve: bool
    sample: int


def zero_shot(
    model: MeasuredModel,
    data: NaturalTask,
    way: LearningWay,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Measurement:
    """Every metric of a task on the test sets of its source and of its other languages, all by one model. Words become
    ids by the checkpoint's own tokenizer: tagged ones one by one, as after a space, others in their text. The files are
    the predictions, as in XTREME's submissions. Raises BadInput if the checkpoint or the data are missing, damaged or
    do not match, or if the task cannot be scored in a language."""
    task, examples, reader = data.task, data.examples, Reader.of_given(GivenVocabulary(model.checkpoint).open())
    train = Split(examples.path("train"), task)
    translations = [Split(examples.path("train", name), task) for name in way.translations]
    tests = data.sets("test", data.languages, reader)
    dev = list(data.sets("dev", way.devs, reader).values()) if len(way.configs) > 1 else []
    check_types(model.checkpoint, int(reader.table.max()))
    labels = check(train, [*translations, *(each.split for each in (*tests.values(), *dev))])
    for split in translations:
        train.check_translation(split)
    learnt, switching = [TaskSet(split, reader) for split in (train, *translations)], way.name == SWITCHED
    evaluated = evaluate(model, learnt, tests, labels, way.configs, progress, dev, switching, way.sample)
    without = "whose answers have no sub-words"
    # The cut examples of a sample are not counted.
    exclusions = Counter({"training examples that do not fit into one row": 0 if way.sample else evaluated.cut})
    exclusions[f"training examples {without}, left out"] = evaluated.unlabelled
    records, files = list[Record](), dict[str, str]()
    for language, tested in evaluated.tested.items():
        measure, place = way.name, language
        if language == data.source:
            measure, place = "SRC" if way.name == "ZS" else way.name + IN_SOURCE, SOURCE
        size = evaluated.examples if way.on_curve else 0
        about = {"language": language, "task": task.name, "units": data.units, "examples": size}
        for metric, score in tested.scores.items():
            records.append(model.record(measure, metric, score.value, score.count, items=score.items, **about))
        exclusions[f"examples of {language} that do not fit into one row"] = tested.cut
        exclusions[f"examples of {language} {without}"] = tested.unlabelled
        path, text = task.submission(language, examples.examples("test", place), tested.answers, data.units)
        files[path] = text
    return Measurement(tuple(records), exclusions, files, {"chosen": evaluated.chosen, "dev": list(evaluated.dev)})
