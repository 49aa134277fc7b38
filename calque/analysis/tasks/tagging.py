"""Tasks that label every word: part-of-speech tagging, named entity recognition, and user-defined labels."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from calque.analysis.tasks.baselines import Answer, Baseline, Gazetteer, Majority, Unigram, words_of
from calque.analysis.tasks.score import ACCURACY, F1, Metric, entity_f1
from calque.analysis.tasks.task import Reader, Task, TaskRow, WordHead, windows
from calque.derive.sentence import Example, Sentence, iob2, word_labels
from calque.pretrain.batch import UNLABELLED


def tagged_words(examples: Iterable[tuple[Example, Answer]]) -> Iterator[tuple[str, str]]:
    """Yield each word with its label."""
    for example, labels in examples:
        yield from zip(words_of(example), labels, strict=True)


class Tagging(Task):
    """A task that labels each word at its first sub-word. Long texts are split into several rows."""

    head = WordHead()
    baselines: ClassVar[tuple[Baseline, ...]] = (Majority(of_words=True), Unigram())

    @abstractmethod
    def tags(self, sentence: Sentence) -> Answer:
        """Return each word's label."""

    def gold(self, example: Example) -> Answer:
        if len(example.texts) != 1:
            raise ValueError(f"an example should have one text, not {len(example.texts)}")
        tags = tuple(tag for sentence in example.texts[0] for tag in self.tags(sentence))
        if len(tags) != len(words_of(example)) or not all(tags):
            raise ValueError("some words have no tag; expected a tag for every word")
        return tags

    def rows(
        self, example: Example, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[TaskRow], bool]:
        return windows(reader, words_of(example), [labels.index(tag) for tag in self.gold(example)], length)

    def decode(
        self, example: Example, rows: Sequence[TaskRow], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        return tuple(
            labels[number]
            for row, answer in zip(rows, answers, strict=True)
            for number in answer[: len(row.targets)][row.targets != UNLABELLED]
        )


class POS(Tagging):
    name = data = "pos"
    title = "POS"
    summary = "POS assigns a part of speech to every word."
    metrics = (ACCURACY, Metric("f1_bare_tags", "F1 on bare tags", entity_f1))
    printed = "f1_bare_tags"

    def tags(self, sentence: Sentence) -> Answer:
        return sentence.tags


class NER(Tagging):
    """Named entity recognition with IOB2 tags, computed from spans, which stay valid after reordering."""

    name = data = "ner"
    title = "NER"
    summary = "NER finds the names in a sentence and their types."
    metrics = (F1, ACCURACY)
    baselines: ClassVar[tuple[Baseline, ...]] = (*Tagging.baselines, Gazetteer())

    def tags(self, sentence: Sentence) -> Answer:
        return iob2(sentence)

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """O, and both B- and I- for every type."""
        types = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
        return ("O", *(f"{mark}-{kind}" for kind in types for mark in "BI"))


class WordLabels(Tagging):
    name = data = "word_labels"
    title = "Word labels"
    summary = "Word labels assign one of your own labels to each word."
    metrics = (ACCURACY,)

    def tags(self, sentence: Sentence) -> Answer:
        return word_labels(sentence)
