"""Fine-tune a checkpoint on a task in one language, and test it in others, derived or natural."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from calque.analysis.records.record import DELTA, ENTRY, NO_ENTRY, MeasuredModel, Measurement, Record
from calque.analysis.tasks.baselines import Answer
from calque.analysis.tasks.finetune import Finetuned, check_types, finetune, longest_row
from calque.analysis.tasks.finetune_config import FinetuneConfig
from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.score import OF, Score
from calque.analysis.tasks.tagging import Tagging, words_of
from calque.analysis.tasks.task import EncodedSet, Split, Task, check
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.derive.readers.conllu import WORDS, Units
from calque.derive.source import SPLITS
from calque.derive.task_data import TaskFolder
from calque.derive.vocabulary import GivenVocabulary

Progress = Callable[[str, int, int], None]  # a title such as "pos source", the step, the number of steps


@dataclass(frozen=True)
class Predictions:
    """The predictions for `size` examples, their scores, and the numbers of examples that do not fit into one
    row (`cut`) or whose answers have no sub-words (`unlabelled`)."""

    size: int
    cut: int
    unlabelled: int
    scores: Mapping[str, Score] = field(default_factory=dict)
    answers: Sequence[Answer] = ()

    @classmethod
    def of(cls, rows: EncodedSet, **results: Any) -> Self:
        size = len(rows.examples)
        return cls(size, rows.cut, size - len(rows.labelled().examples), **results)


def evaluate(
    model: MeasuredModel,
    train: Split,
    tests: Mapping[str, Split],
    labels: Sequence[str],
    config: FinetuneConfig,
    progress: Callable[[int, int], None],
) -> tuple[Predictions, dict[str, Predictions]]:
    """Fine-tune on `train`, and return the counts for `train` and the predictions for each test set. Raises
    BadInput if the checkpoint and the data do not match."""
    length = longest_row(model.checkpoint, config)
    encoded = train.encode(labels, length)
    counts, rows = Predictions.of(encoded), encoded.labelled().rows
    if not rows:
        raise BadInput("the tokenizer has no sub-words for any of the answers", train.path)
    tuned = finetune(model, rows, train.task.head, len(labels), config, progress)
    del encoded, rows  # free the memory
    return counts, {name: _test(tuned, test, labels, length) for name, test in tests.items()}


def _test(model: Finetuned, test: Split, labels: Sequence[str], length: int) -> Predictions:
    encoded, gold, task = test.encode(labels, length), test.gold, test.task
    answers = test.decode(encoded, model.answers(encoded.rows), labels)
    scores, by_diagnostic = dict(task.scores(gold, answers)), dict[str, list[int]]()
    for i, (example, _) in enumerate(test):
        if example.diagnostic:
            by_diagnostic.setdefault(example.diagnostic, []).append(i)
    for name, chosen in sorted(by_diagnostic.items()):
        score = task.scores([gold[i] for i in chosen], [answers[i] for i in chosen])[task.primary]
        scores[f"{task.primary}{OF}{name}"] = score
    return Predictions.of(encoded, scores=scores, answers=answers)


def by_entry(
    split: Split, answers: Sequence[Answer], languages: Languages, language: str
) -> dict[str, Score]:
    """The accuracy over a tagged set's words with and without a dictionary entry, excluding words with
    several sub-words and words that are the same as in the source."""
    if (SOURCE, language) not in languages.dictionaries:
        return {}
    images, entries = languages[language].images, {*languages.dictionary(SOURCE, language)[:, 1].tolist()}

    def group(word: str) -> str:
        pieces = languages.vocabulary.encode(word)
        image = int(images[pieces[0]])
        if len(pieces) > 1 or image in (-1, pieces[0]):
            return ""
        return ENTRY if image in entries else NO_ENTRY

    scores = dict[str, Score]()
    for name in (ENTRY, NO_ENTRY):
        hits, sizes = list[int](), list[int]()
        for (example, gold), predicted in zip(split, answers, strict=True):
            words = zip(words_of(example), gold, predicted, strict=True)
            correct = [tag == answer for word, tag, answer in words if group(word) == name]
            hits.append(sum(correct))
            sizes.append(len(correct))
        if any(sizes):
            scores[name] = Score.over(hits, sizes, sum(sizes))
    return scores


@dataclass(frozen=True)
class DerivedTask:
    """A task, its `examples` in a model's `languages`, and the settings for fine-tuning."""

    task: Task
    languages: Languages
    examples: TaskFolder
    config: FinetuneConfig


def transfer(model: MeasuredModel, data: DerivedTask, progress: Progress = lambda *_: None) -> Measurement:
    """Measure every metric of a task in the source and in the derived language. One model is fine-tuned on
    the source and scored on the source's test set (SRC), the derived test set (ZS) and the source's dev set
    (DEV). Another model is fine-tuned and scored on the derived language (SUP). CUT is the fraction of
    examples that do not fit into one row."""
    task, derived = data.task, model.language
    readers = {name: Reader.of(data.languages, name) for name in (SOURCE, derived)}
    check_types(model.checkpoint, max(int(reader.table.max()) for reader in readers.values()))
    places = [*((split, SOURCE) for split in SPLITS), ("train", derived), ("test", derived)]
    sets = {place: Split(data.examples.path(*place), task, reader=readers[place[1]]) for place in places}
    labels = check(sets["train", SOURCE], sets.values())
    of_source = {"SRC": ("test", SOURCE), "ZS": ("test", derived), "DEV": ("dev", SOURCE)}
    records, cut = list[Record](), dict[tuple[str, str], tuple[int, int]]()
    for learnt, tests in ((SOURCE, of_source), (derived, {"SUP": ("test", derived)})):
        report = partial(progress, f"{task.name} {learnt}")
        chosen = {name: sets[place] for name, place in tests.items()}
        trained, predictions = evaluate(model, sets["train", learnt], chosen, labels, data.config, report)
        cut["train", learnt] = trained.cut, trained.size
        for measure, tested in predictions.items():
            cut[tests[measure]] = tested.cut, tested.size
            scores, compared = dict(tested.scores), measure in ("ZS", "SUP")
            if compared and isinstance(task, Tagging):
                scores |= by_entry(chosen[measure], tested.answers, data.languages, derived)
            for metric, score in scores.items():
                about = {"task": task.name, "items": score.items if compared else None}
                records.append(model.record(measure, metric, score.value, score.count, **about))
    for split in SPLITS:
        part, size = cut[split, SOURCE]
        records.append(model.record("CUT", "fraction", part / size, size, task=task.name, split=split))
    return Measurement(tuple(records + deltas(records)))


def deltas(records: Iterable[Record]) -> list[Record]:
    """DELTA = SUP - ZS, with SUP's count, for every metric with both scores."""
    zero_shot, differences = dict[Record, float](), list[Record]()
    for record in records:
        common = replace(record, measure=DELTA, value=0.0, count=0, items=None)
        if record.measure == "ZS":
            zero_shot[common] = record.value
        elif record.measure == "SUP" and common in zero_shot:
            value = record.value - zero_shot[common]
            differences.append(replace(common, value=value, count=record.count))
    return differences


@dataclass(frozen=True)
class NaturalTask:
    """A task in natural languages; `units` says whether words or XTREME's units are tagged."""

    task: Task
    examples: TaskFolder
    source: str
    languages: tuple[str, ...]
    config: FinetuneConfig
    units: Units = WORDS


def zero_shot(
    model: MeasuredModel, data: NaturalTask, progress: Callable[[int, int], None] = lambda step, steps: None
) -> Measurement:
    """Fine-tune a checkpoint, with its own tokenizer, in the source language, and measure every metric on all
    test sets."""
    task, examples = data.task, data.examples
    reader = Reader.of_given(GivenVocabulary(model.checkpoint).open())
    train, tests = Split(examples.path("train"), task, reader=reader), dict[str, Split]()
    for name in (data.source, *data.languages):
        language = SOURCE if name == data.source else name
        tests[name] = Split(examples.path("test", language), task.in_language(name), reader=reader)
    check_types(model.checkpoint, int(reader.table.max()))
    labels = check(train, tests.values())
    trained, predictions = evaluate(model, train, tests, labels, data.config, progress)
    without = "whose answers have no sub-words"
    exclusions = Counter({"training examples that do not fit into one row": trained.cut})
    exclusions[f"training examples {without}, left out"] = trained.unlabelled
    records = list[Record]()
    for language, tested in predictions.items():
        measure = "SRC" if language == data.source else "ZS"
        about = {"language": language, "task": task.name, "units": data.units}
        for metric, score in tested.scores.items():
            records.append(
                model.record(measure, metric, score.value, score.count, items=score.items, **about)
            )
        exclusions[f"examples of {language} that do not fit into one row"] = tested.cut
        exclusions[f"examples of {language} {without}"] = tested.unlabelled
    return Measurement(tuple(records), exclusions)
