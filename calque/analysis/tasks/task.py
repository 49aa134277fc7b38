"""A task's interface, the rows of ids that encode its examples, the heads on top of an encoder, and sets of
examples. Shapes: B rows, L ids in a row, K targets per row, C choices per target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, ClassVar, NamedTuple, Self
from unicodedata import category

import numpy as np

from calque.analysis.tasks.score import ACCURACY, Answer, Baseline, Metric, Score
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.sentence import Example, Sentence, read_examples
from calque.derive.vocabulary import OURS, Specials, Vocabulary
from calque.pretrain.batch import Rows
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import encode_first, text_logits

BARRED = -1e4  # the logit at padding, so that no answer starts or ends there


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A model's input `ids` (L,), and `targets` (K,) whose meaning the head defines. `language` is the token
    type for models with language embeddings, and `types` are the tokenizer's token types, one or (L,)."""

    ids: np.ndarray
    targets: np.ndarray
    language: int = field(default=0, kw_only=True)
    types: np.ndarray | int = field(default=0, kw_only=True)


class Pieces(NamedTuple):
    """A text's sub-words: their `ids`, and the character offsets at which they start and end, (N,) each."""

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


@dataclass(frozen=True)
class Reader:
    """Encodes words as ids, and texts whole if `encode_text` is given; `language` is a token type."""

    encode: Callable[[str], Sequence[int]]
    language: int = 0
    specials: Specials = OURS
    is_bert: bool = False
    encode_text: Callable[[str], Pieces] | None = None

    @classmethod
    def of(cls, languages: Languages, name: str) -> Reader:
        """Return a reader for a study's language, which maps words of the source's vocabulary to its ids."""
        language, vocabulary = languages[name], languages.vocabulary

        @cache
        def encode(word: str) -> Sequence[int]:
            return tuple(language.table[list(vocabulary.encode(word))].tolist())

        return cls(encode, language.number, languages.specials, vocabulary.is_bert)

    @classmethod
    def of_given(cls, vocabulary: Vocabulary) -> Reader:
        """Return a reader for a given tokenizer; tagged words are encoded one by one, other text whole."""

        def as_written(text: str) -> Pieces:
            (encoding,) = vocabulary.encode_texts([f" {text}"])
            if not encoding.ids:
                raise ValueError(f"the text {text!r} has no sub-words")
            starts, ends = np.array(_covered(text, encoding.offsets), np.int64).T
            return Pieces(vocabulary.as_text(np.array(encoding.ids, np.int64)), starts, ends)

        return cls(vocabulary.encode, 0, vocabulary.specials, vocabulary.is_bert, as_written)

    def read(self, sentences: Sequence[Sentence]) -> Pieces:
        """Split a text into sub-words, as written or word by word."""
        text = " ".join(sentence.text for sentence in sentences)
        if self.encode_text:
            return self.encode_text(text)
        pieces, end = list[tuple[int, int, int]](), 0
        for word in chain.from_iterable(sentence.words for sentence in sentences):
            start = text.index(word, end)
            end = start + len(word)
            pieces += [(piece, start, end) for piece in self.encode(word)]
        return Pieces(*np.array(pieces, np.int64).reshape(-1, 3).T)

    def row(self, ids: Sequence[int], targets: Sequence[int], types: np.ndarray | int = 0) -> TaskRow:
        columns = np.asarray(ids, np.int32), np.asarray(targets, np.int32)
        return TaskRow(*columns, language=self.language, types=types)

    def row_of_texts(self, texts: Sequence[np.ndarray], targets: Sequence[int]) -> TaskRow:
        """Combine one or two texts: `<s> text </s> </s> text </s>` or, for BERT, `[CLS] text [SEP] text
        [SEP]`, where the second text has another token type."""
        start, end = self.specials.start, self.specials.end
        befores = [[start], [] if self.is_bert else [end]][: len(texts)]
        parts = [[*before, *text.tolist(), end] for before, text in zip(befores, texts, strict=True)]
        types = np.repeat(np.arange(len(parts), dtype=np.uint8), list(map(len, parts)))
        return self.row(list(chain.from_iterable(parts)), targets, types if self.is_bert else 0)


def _covered(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the characters that sub-words cover, given their offsets in " " + `text`: without spaces at the
    ends, but with adjacent combining marks, which some tokenizers drop."""
    spans = list[tuple[int, int]]()
    for start, end in offsets:
        covered, start = text[max(0, start - 1) : max(0, end - 1)], max(0, start - 1)
        start += len(covered) - len(covered.lstrip())
        spans.append((start, start + len(covered.strip())))
    inside = {place for span in spans for place in range(*span)}
    dropped = {i for i, letter in enumerate(text) if i not in inside and category(letter).startswith("M")}
    for i, (start, end) in enumerate(spans):
        if start < end:
            before = start
            while before - 1 in dropped:
                before -= 1
            if before == 0 or text[before - 1].isspace():
                start = before
            while end in dropped:
                end += 1
        spans[i] = start, end
    return spans


class Head:
    """A head of transformers' class `auto`: targets are one of C choices, here for each id (K is L)."""

    format: ClassVar[int] = 1
    auto: ClassVar[str] = "AutoModelForTokenClassification"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Return logits (B, K, C) for ids and token types (B, L); `real` (B, L) is False at padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types).logits

    def answers(self, logits: Tensor) -> Tensor:
        """The most likely choice for each target, (B, K)."""
        return logits.argmax(-1)


class TextHead(Head):
    """Predicts a label for the whole row: K is 1. The last layer is computed only at the first position."""

    format = 2
    auto = "AutoModelForSequenceClassification"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return text_logits(model, encode_first(model, rows))[:, None]


class SpanHead(Head):
    """Chooses an answer's start and end: K is 2, C is L (Devlin et al. 2019, section 4.2)."""

    format = 3  # format 2 did not allow answers that start or end with a space marker
    auto = "AutoModelForQuestionAnswering"

    def logits(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        output = model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)
        logits = torch.stack([output.start_logits, output.end_logits], dim=1)
        return logits.masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """The logits themselves, (B, 2, L); the task chooses a span."""
        return logits.float()


EncodedExample = tuple[list[TaskRow], bool]  # rows, and whether the whole example fits into one
AnsweredRows = Sequence[tuple[TaskRow, np.ndarray]]


@dataclass(frozen=True)
class Task(ABC):
    """A task, with its data, metrics, head, decoding and baselines."""

    name: ClassVar[str]  # name of the task in records and settings, and of its data folder
    title: ClassVar[str]  # display name
    summary: ClassVar[str] = ""  # a sentence about the task, for glossaries and the documentation
    data: ClassVar[str]  # the kind of data, as sources and readers call it
    texts: ClassVar[tuple[str, ...]] = ("text",)  # names for an example's texts, used in errors
    metrics: ClassVar[tuple[Metric, ...]] = (ACCURACY,)  # the first one is used to compare models
    printed: ClassVar[str] = ""  # the metric used in published tables, if it is not the first
    head: ClassVar[Head] = Head()  # the head trained on top of an encoder
    baselines: ClassVar[tuple[Baseline, ...]] = ()  # model-free baselines to compare scores with

    @property
    def primary(self) -> str:
        return self.metrics[0].name

    def in_language(self, name: str) -> Self:
        """Return the task with a natural language's scoring rules. Raises BadInput if there are none."""
        return self

    @abstractmethod
    def gold(self, example: Example) -> Answer:
        """Return an example's answer or, for questions, all answers. Raises ValueError without one."""

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        """Return the labels that a model can predict, given the training answers; spans have none."""
        return tuple(sorted({label for labels in gold for label in labels}))

    @abstractmethod
    def rows(self, example: Example, labels: Sequence[str], reader: Reader, length: int) -> EncodedExample:
        """Encode an example as rows of at most `length` ids. Raises ValueError if a text has no ids."""

    @abstractmethod
    def decode(self, example: Example, answers: AnsweredRows, labels: Sequence[str]) -> Answer:
        """Return the prediction for an example, given the head's answers for its rows."""

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        """Return a score for each metric. Raises ValueError if a score is undefined."""
        return {metric.name: metric.score(gold, predicted) for metric in self.metrics if metric.score}


class EncodedSet(NamedTuple):
    """The rows that encode each example; `cut` examples do not fit into one row."""

    examples: Sequence[Sequence[TaskRow]]
    cut: int

    @property
    def rows(self) -> list[TaskRow]:
        return list(chain.from_iterable(self.examples))


@dataclass(frozen=True)
class Split:
    """A file of a task's examples, which each iteration reads and encodes; errors name `read_from`."""

    path: Path
    task: Task
    read_from: tuple[Path, ...] = ()
    reader: Reader | None = None

    def __iter__(self) -> Iterator[tuple[Example, Answer]]:
        names = self.task.texts
        for line, example in enumerate(read_examples(self.path), start=1):
            try:
                if len(example.texts) != len(names):
                    raise ValueError(f"expected a {' and a '.join(names)}, not {len(example.texts)} texts")
                gold = tuple(map(intern, self.task.gold(example)))
            except (ValueError, LookupError, TypeError, AttributeError) as error:  # e.g. of a user's task
                raise self.fault(f"not an example of the task {self.task.name}: {error}", line) from error
            yield example, gold

    def fault(self, message: str, example: int | None = None) -> BadInput:
        if not self.read_from:
            return BadInput(message, self.path, example)
        place = f"example {example} of " if example else ""
        files = ", ".join(map(str, self.read_from))
        return BadInput(f"{message} ({place}the {self.path.name.partition('.')[0]} set)", files)

    @property
    def gold(self) -> list[Answer]:
        return [gold for _, gold in self]

    def encode(self, labels: Sequence[str], length: int) -> EncodedSet:
        assert self.reader
        examples, cut = list[list[TaskRow]](), 0
        for number, (example, _) in enumerate(self, start=1):
            try:
                rows, fits = self.task.rows(example, labels, self.reader, length)
            except ValueError as error:
                raise self.fault(str(error), number) from None
            examples.append(rows)
            cut += not fits
        return EncodedSet(examples, cut)

    def decode(
        self, encoded: EncodedSet, answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> list[Answer]:
        """Return each example's prediction, given the head's answers for its rows."""
        remaining = iter(answers)
        return [
            self.task.decode(example, list(zip(rows, remaining, strict=False)), labels)
            for (example, _), rows in zip(self, encoded.examples, strict=True)
        ]


def check(train: Split, splits: Iterable[Split]) -> tuple[str, ...]:
    """Return the labels in `train`. Raises BadInput if a split is unusable or has other labels."""
    labels = train.task.labels(train.gold)
    for split in splits:
        task, answers = split.task, split.gold
        for line, gold in enumerate(answers, start=1):
            if unknown := sorted({*task.labels([gold])} - {*labels}):
                message = f"unknown label {unknown[0]!r}; the training data contain {', '.join(labels)}"
                raise split.fault(message, line)
        try:
            task.scores(answers, answers)
        except ValueError as error:
            raise split.fault(str(error)) from error
    return labels
