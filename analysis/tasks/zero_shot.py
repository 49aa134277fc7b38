"""Zero-shot transfer between natural languages: fine-tuned on one language, scored on the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch

from analysis.tasks.finetune import FinetuneConfig, Finetuned, check_types, finetune, longest_row
from analysis.tasks.rows import Reader
from analysis.tasks.score import Answer, Score
from analysis.tasks.split import Encoded, Split, check
from analysis.tasks.task import Task
from analysis.tasks.translated import check_translations, switched, together
from derive.errors import BadInput
from derive.language import SOURCE
from derive.task_data import TaskFolder
from derive.vocabulary import GivenVocabulary


@dataclass(frozen=True)
class Tested:
    """What a fine-tuned model said of the examples of a test set, in their order, and each metric of it.

    `cut` counts the examples that did not fit into a row (`analysis.tasks.split.Encoded`), `unlabelled` the
    examples whose answers have no sub-words, so that no model can give them.
    """

    scores: Mapping[str, Score]
    said: Sequence[Answer]
    cut: int
    unlabelled: int


@dataclass(frozen=True)
class TaskSets:
    """The test sets of a task, in the language it is learnt in and in others."""

    task: Task
    examples: TaskFolder
    languages: Sequence[str]

    def splits(self, source: str, split: str = "test", others: Sequence[str] | None = None) -> dict[str, Split]:
        """By language, the source's first; those of another `split` are in other languages."""
        return {
            name: Split(self.examples.path(split, SOURCE if name == source else name), self.task.in_language(name))
            for name in (source, *(self.languages if others is None else others))
        }


@dataclass(frozen=True)
class Transferred:
    """The test sets by task and language, the source's first; which of the settings was chosen, by which dev scores.

    `examples` were learnt from, of which `cut` did not fit into a row (0 of a sample, whose are not counted), and
    `unlabelled` more were left out, because their answers have no sub-words.
    """

    tested: Mapping[str, Mapping[str, Tested]]
    chosen: int
    dev: Sequence[float]
    examples: int
    cut: int
    unlabelled: int


def zero_shot(
    checkpoint: Path,
    sets: Sequence[TaskSets],
    source: str,
    configs: Sequence[FinetuneConfig],
    seed: int,
    device: torch.device,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    devs: Sequence[str] = (),
    translations: Sequence[str] = (),
    switching: bool = False,
    sample: int = 0,
) -> Transferred:
    """Every metric of a task on the test set of `source` and on those of other languages, all by one model.

    It is fine-tuned on the training set of the first of `sets`, and is as after its last epoch; the others, if any, are
    of tasks whose training sets are the same. Of several `configs` that one is taken which has the best mean of the
    main metric over the dev sets of `source` and of `devs`, the joint validation set of Chi et al. (2021); of equals
    the first. With a single one nothing is selected on any set. It learns from the training sets of `translations` too,
    and, `switching`, from pairs with a text of the source and one of each of them (Pan et al. 2021). With a `sample` it
    learns from so many of the examples. Words become ids by the checkpoint's own tokenizer: tagged ones each as it
    stands after a space, others in their text.

    Raises:
        BadInput: the checkpoint or the data are missing, do not fit each other, or are damaged, or the task cannot be
            scored in a language.
    """
    first, *others = sets
    train = Split(first.examples.path("train"), first.task)
    for other in others:
        _check_equal(train, other)
    tests = {each.task.name: each.splits(source) for each in sets}
    chosen_on = first.splits(source, "dev", devs) if len(configs) > 1 else {}
    reader = reader_of(checkpoint)
    check_types(checkpoint, len(reader.table) - 1)
    translated = tuple(Split(first.examples.path("train", name), first.task) for name in translations)
    asked = [*(split for of in tests.values() for split in of.values()), *chosen_on.values()]
    lesson = _Lesson(reader, train, translated, check(train, [*translated, *asked]), switching, sample)
    best, dev = -1, list[float]()
    model: Finetuned | None = None
    encoded: dict[int, tuple[Encoded, int]] = {}
    for number, config in enumerate(configs):
        length = longest_row(checkpoint, config)
        if length not in encoded:
            encoded = {length: lesson.rows(length)}

        def tell(step: int, steps: int, number: int = number) -> None:
            progress(number * steps + step, len(configs) * steps)

        made = finetune(checkpoint, encoded[length][0], first.task.head, len(lesson.labels), config, seed, device, tell)
        if chosen_on:
            scores = (lesson.asked(made, split, length).scores for split in chosen_on.values())
            dev.append(fmean(each[first.task.primary].value for each in scores))
        if model is None or dev[-1] > dev[best]:
            best, model = number, made
        del made
    assert model is not None
    length = longest_row(checkpoint, configs[best])
    tested = {
        of: {name: lesson.asked(model, split, length) for name, split in splits.items()} for of, splits in tests.items()
    }
    ((learnt, unlabelled),) = encoded.values()
    return Transferred(tested, best, dev, len(learnt.counts), 0 if sample else learnt.cut, unlabelled)


@dataclass(frozen=True)
class _Lesson:
    """What a model learns from, and how sets are asked of it."""

    reader: Reader
    train: Split
    translated: tuple[Split, ...]
    labels: tuple[str, ...]
    switching: bool
    sample: int

    def __post_init__(self) -> None:
        for split in self.translated:
            check_translations(self.train, split)

    def rows(self, length: int) -> tuple[Encoded, int]:
        """What is learnt, as rows of at most `length` ids, and how many examples have no answer that can be learnt."""
        made = [split.encode(self.labels, self.reader, length) for split in (self.train, *self.translated)]
        if self.switching:
            readers = (self.reader, self.reader)
            made += [switched(self.train, split, self.labels, readers, length) for split in self.translated]
        whole = together(*made) if self.translated else made[0]
        unlabelled = int(whole.unlabelled.sum())
        whole = whole.labelled() if unlabelled else whole
        if not whole.rows:
            raise BadInput("no answer in it has sub-words of the tokenizer", self.train.path)
        try:
            return whole.sample(self.sample) if self.sample else whole, unlabelled
        except ValueError as error:
            raise BadInput(f"a learning curve of {error}", self.train.path) from None

    def asked(self, model: Finetuned, split: Split, length: int) -> Tested:
        """What a model says of a set."""
        rows = split.encode(self.labels, self.reader, length)
        said = split.decode(rows, model.answers(rows), self.labels)
        return Tested(split.task.scores(split.gold, said), said, rows.cut, int(rows.unlabelled.sum()))


def _check_equal(train: Split, other: TaskSets) -> None:
    """Refuse a task that is tested with the model of another and would learn from other examples.

    Raises:
        BadInput: naming its training set.
    """
    path = other.examples.path("train")
    if path.read_bytes() != train.path.read_bytes():
        raise BadInput(
            f"not the training examples of {train.task.name}, whose model answers {other.task.name} too", path
        )


def reader_of(checkpoint: Path) -> Reader:
    """How the tokenizer beside a model reads words, of whatever language.

    Raises:
        BadInput: there is none, or it lacks a special type that models need.
    """
    return Reader.of_given(GivenVocabulary(checkpoint).open())
