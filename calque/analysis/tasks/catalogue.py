"""All tasks, and their floors: the scores of baselines on the same examples as models."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, cast

import numpy as np

from calque.analysis.records.record import Floor
from calque.analysis.tasks.score import (
    ACCURACY,
    ARTICLES,
    EXACT,
    F1,
    Answer,
    BagOfWords,
    Baseline,
    Gazetteer,
    Learnt,
    Majority,
    Metric,
    Score,
    Spell,
    Unigram,
    answer_scores,
    entity_f1,
    pair_baselines,
    words_of,
)
from calque.analysis.tasks.task import (
    AnsweredRows,
    EncodedExample,
    Reader,
    SpanHead,
    Split,
    Task,
    TaskRow,
    TextHead,
)
from calque.derive.errors import BadInput, unknown
from calque.derive.languages import SOURCE, Languages
from calque.derive.sentence import Example, Sentence, iob2, word_labels
from calque.derive.task_data import TaskFolder
from calque.pretrain.batch import UNLABELLED

QUESTION = 64  # maximum number of sub-words in a question; longer questions are truncated
STRIDE = 128  # number of sub-words between the starts of consecutive windows
BEST = 20  # number of best starts, and of best ends, that are paired
LONGEST = 30  # maximum number of sub-words in an answer
NOWHERE = -1  # the character position of ids that are not in the context


class Classification(Task):
    """A task that labels one or more texts, encoded in a single row. The longest text is truncated."""

    head = TextHead()
    label, expected = "(?s).+", "a label"  # a pattern for labels, and its description in errors

    def gold(self, example: Example) -> Answer:
        if not re.fullmatch(self.label, example.label):
            raise ValueError(f"the label is {example.label!r}; expected {self.expected}")
        return (example.label,)

    def rows(self, example: Example, labels: Sequence[str], reader: Reader, length: int) -> EncodedExample:
        flat = [reader.read(text).ids for text in example.texts]
        sizes = [len(pieces) for pieces in flat]
        room = length - len(reader.row_of_texts([pieces[:0] for pieces in flat], ()).ids)
        while sum(sizes) > room:
            sizes[sizes.index(max(sizes))] -= 1
        ids = [pieces[:size] for pieces, size in zip(flat, sizes, strict=True)]
        row = reader.row_of_texts(ids, [labels.index(self.gold(example)[0])])
        return [row], sum(sizes) == sum(map(len, flat))

    def decode(self, example: Example, answers: AnsweredRows, labels: Sequence[str]) -> Answer:
        ((_, answer),) = answers
        return (labels[int(answer[0])],)


class NLI(Classification):
    name = data = "nli"
    title = "NLI"
    summary = "NLI decides whether a premise entails a hypothesis, contradicts it, or does neither."
    texts = ("premise", "hypothesis")
    baselines = pair_baselines(*texts)
    label, expected = r"(?!\d+$).+", "a word, not a number, as in paraphrase data"


class Paraphrase(Classification):
    """Paraphrase detection, as in PAWS-X: whether two sentences have the same meaning (1) or not (0)."""

    name = data = "paraphrase"
    title = "Paraphrase"
    summary = "Paraphrase detection decides whether two sentences mean the same thing."
    texts = ("first sentence", "second sentence")
    baselines = pair_baselines("first", "second")
    label, expected = "[01]", "1 (same meaning) or 0 (different meaning)"


class TextLabels(Classification):
    name = data = "text_labels"
    title = "Text labels"
    summary = "Text labels assign one of your own labels to each text, such as its topic."
    baselines = (Majority(), BagOfWords(0, "words", "bag of words"))


class PairLabels(Classification):
    name = data = "pair_labels"
    title = "Pair labels"
    summary = "Pair labels assign one of your own labels to each pair of texts."
    texts = ("first text", "second text")
    baselines = pair_baselines("first", "second")


def tagged_words(examples: Iterable[tuple[Example, Answer]]) -> Iterator[tuple[str, str]]:
    """Yield each word with its label."""
    for example, labels in examples:
        yield from zip(words_of(example), labels, strict=True)


class Tagging(Task):
    """A task that labels each word at its first sub-word. Long texts are split into several rows."""

    baselines: ClassVar[tuple[Baseline, ...]] = (Majority(of_words=True), Unigram())

    @abstractmethod
    def tags(self, sentence: Sentence) -> Answer:
        """Return each word's label."""

    def gold(self, example: Example) -> Answer:
        tags = tuple(tag for sentence in example.texts[0] for tag in self.tags(sentence))
        if len(tags) != len(words_of(example)) or not all(tags):
            raise ValueError("some words have no tag; expected a tag for every word")
        return tags

    def rows(self, example: Example, labels: Sequence[str], reader: Reader, length: int) -> EncodedExample:
        """Split the words over as few rows `<s> words </s>` as possible."""
        start, end = reader.specials.start, reader.specials.end
        rows, fits = [([start], [UNLABELLED])], True
        for word, tag in zip(words_of(example), self.gold(example), strict=True):
            pieces = reader.encode(word)
            fits &= len(pieces) <= length - 2
            pieces = pieces[: length - 2]
            if len(rows[-1][0]) + len(pieces) >= length:
                rows.append(([start], [UNLABELLED]))
            ids, marks = rows[-1]
            ids += pieces
            marks += [labels.index(tag)] + [UNLABELLED] * (len(pieces) - 1)
        return [reader.row([*ids, end], [*marks, UNLABELLED]) for ids, marks in rows], fits and len(rows) == 1

    def decode(self, example: Example, answers: AnsweredRows, labels: Sequence[str]) -> Answer:
        return tuple(
            labels[number]
            for row, answer in answers
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

    def tags(self, sentence: Sentence) -> Answer:
        return word_labels(sentence)


@dataclass(frozen=True, slots=True)
class SpanRow(TaskRow):
    """A question with a window of its context. `starts` and `ends` (L,) are each id's character offsets in
    the context, or NOWHERE; `best` (L,) says whether no other window shows more context around the id."""

    starts: np.ndarray
    ends: np.ndarray
    best: np.ndarray


class Questions(Task):
    """A task whose answers are spans, as in SQuAD v1.1; in rows without one, targets are the first id."""

    data = "qa"
    texts = ("question", "context")
    metrics = (F1, EXACT)
    head = SpanHead()
    language = ""  # whose rules for comparing answers apply; "" stands for SQuAD's

    def gold(self, example: Example) -> Answer:
        question, context = example.texts
        if not any(map(len, question)):
            raise ValueError("the question has no words")
        text = " ".join(sentence.text for sentence in context)
        if not (answers := _answers(context)):
            raise ValueError("the context has no answer")
        return tuple(dict.fromkeys(text[start:end] for start, end in answers))

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return ()

    def rows(self, example: Example, labels: Sequence[str], reader: Reader, length: int) -> EncodedExample:
        question, context = reader.read(example.texts[0]).ids, reader.read(example.texts[1])
        for start, end in sorted(_answers(example.texts[1]), key=lambda answer: answer[0] - answer[1]):
            if len(inside := np.flatnonzero((context.ends > start) & (context.starts < end))):
                break  # the longest answer with sub-words
        else:
            raise ValueError("the answer has no sub-words")
        truncated = question[: min(QUESTION, length // 2 - 2)]
        first_place = len(reader.row_of_texts([truncated, truncated[:0]], ()).ids) - 1
        rows: list[TaskRow] = []
        for window, best in windows_of(len(context.ids), length - first_place - 1):
            target = [0, 0]
            if window.start <= inside[0] and inside[-1] < window.stop:
                target = [place + first_place - window.start for place in (inside[0], inside[-1])]
            row = reader.row_of_texts([truncated, context.ids[window]], target)
            around = first_place, len(row.ids) - first_place - len(best)
            starts = np.pad(context.starts[window], around, constant_values=NOWHERE)
            ends = np.pad(context.ends[window], around, constant_values=NOWHERE)
            columns = row.ids, row.targets, starts, ends, np.pad(best, around)
            rows.append(SpanRow(*columns, language=row.language, types=row.types))
        return rows, len(rows) == 1 and len(truncated) == len(question)

    def decode(self, example: Example, answers: AnsweredRows, labels: Sequence[str]) -> Answer:
        rows, candidates = cast(Sequence[tuple[SpanRow, np.ndarray]], answers), list[tuple[float, int, int]]()
        for limit in (BEST, None):
            for row, logits in rows:
                found = spans(row, logits, limit)
                candidates += [(score, row.starts[start], row.ends[end]) for score, start, end in found]
            if candidates:
                break
        _, start, end = max(candidates, key=lambda span: span[0])  # the first in case of a tie
        text = " ".join(sentence.text for sentence in example.texts[1])
        return (text[start:end].strip(),)  # a sub-word that is only a space marker covers a space

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        return answer_scores(gold, predicted, self.language)


class QA(Questions):
    name = "qa"
    title = "QA"
    summary = "QA finds the answer to a question in a passage."


class XQuAD(Questions):
    """XQuAD (Artetxe et al. 2020)."""

    name = "xquad"
    title = "XQuAD"
    summary = "XQuAD is QA on translations of SQuAD."


class TyDiQA(Questions):
    """TyDiQA-GoldP (Clark et al. 2020)."""

    name = "tydiqa"
    title = "TyDiQA"
    summary = "TyDiQA is QA on questions written by speakers of each language."


@dataclass(frozen=True)
class MLQA(Questions):
    """MLQA (Lewis et al. 2020)."""

    language: str = "en"

    name = "mlqa"
    title = "MLQA"
    summary = "MLQA is QA with language-specific rules for comparing answers."

    def in_language(self, name: str) -> MLQA:
        if name not in ARTICLES:
            raise BadInput(f"MLQA has no scoring rules for {name}, only for {', '.join(ARTICLES)}")
        return MLQA(name)


def _answers(context: Sequence[Sentence]) -> list[tuple[int, int]]:
    answers, first = list[tuple[int, int]](), 0
    for sentence in context:
        for span in sentence.spans:
            start = first + sentence.length(span.start + 1) - len(sentence.words[span.start])
            answers.append((start, first + sentence.length(span.end)))
        first += sentence.length(len(sentence)) + 1
    return answers


def windows_of(size: int, room: int) -> list[tuple[slice, np.ndarray]]:
    """Return windows of `room` positions over `size` positions, at most STRIDE and `room` / 2 apart, with
    whether each position has more context there than in any other window (ties go to the first). Context
    is the smaller number of positions on either side, plus a hundredth of the window's length, as in Devlin
    et al.'s code."""
    if room < 1:
        raise ValueError("the question leaves no room for a context in the row")
    step = max(1, min(STRIDE, room // 2))
    starts = range(0, max(1, size - room + step), step)
    windows = [slice(start, min(start + room, size)) for start in starts]
    context = np.full((len(windows), size), -np.inf)
    for row, window in zip(context, windows, strict=True):
        places = np.arange(window.stop - window.start)
        row[window] = np.minimum(places, places[::-1]) + 0.01 * len(places)
    best = context.argmax(0)
    return [(window, best[window] == number) for number, window in enumerate(windows)]


def spans(row: SpanRow, logits: np.ndarray, limit: int | None = BEST) -> list[tuple[float, int, int]]:
    """Return the score, start and end of each possible answer in a row, given `logits` (2, at least L).
    Starts and ends are restricted to the `limit` best positions each (None: unrestricted)."""
    starts, ends = logits[:, : len(row.ids)]
    context = row.starts != NOWHERE
    firsts, lasts = (np.argsort(-scores, kind="stable")[:limit] for scores in (starts, ends))
    firsts, lasts = firsts[(context & row.best)[firsts]], lasts[context[lasts]]
    length, letters = lasts[None] - firsts[:, None], row.ends[lasts][None] - row.starts[firsts][:, None]
    indices = np.argwhere((length >= 0) & (length < LONGEST) & (letters > 0))
    pairs = ((int(firsts[i]), int(lasts[j])) for i, j in indices)
    return [(float(starts[first] + ends[last]), first, last) for first, last in pairs]


_ALL: tuple[Task, ...] = (NLI(), NER(), POS(), QA(), XQuAD(), MLQA(), TyDiQA())
_ALL += (Paraphrase(), WordLabels(), TextLabels(), PairLabels())
TASKS = {task.name: task for task in _ALL}  # in their order in tables
PRIMARY = {name: task.primary for name, task in TASKS.items()}
PRINTED = {name: task.printed or task.primary for name, task in TASKS.items()}  # as in ALIGN-MLM's tables


def task(name: str) -> Task:
    """Return the task with the given name. Raises BadInput if there is none."""
    if name not in TASKS:
        raise BadInput(unknown("task", name, TASKS))
    return TASKS[name]


def task_title(name: str) -> str:
    """Return a task's title or, for a task that occurs only in published tables, its name."""
    return TASKS[name].title if name in TASKS else name


def metric_title(name: str) -> str:
    """Return a metric's title, or its name if no task has the metric."""
    metrics = (metric for task in TASKS.values() for metric in task.metrics)
    return next((metric.title for metric in metrics if metric.name == name), name)


def floors(
    examples: TaskFolder,
    tasks: Mapping[str, Task],
    pairs: Sequence[tuple[str, str]],
    spell: Mapping[str, Spell],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Floor]:
    """Compute all metrics of a task's baselines for pairs of training and test languages."""
    baselines = next(iter(tasks.values())).baselines
    kinds = list(product(dict.fromkeys(first for first, _ in pairs), baselines))
    learnt, rows = dict[tuple[str, Baseline], Learnt](), list[Floor]()
    for number, (first, baseline) in enumerate(kinds):
        progress(number, len(kinds))
        train = Split(examples.path("train", first), tasks[first])
        learnt[first, baseline] = baseline.learn(train, spell[first])
    for (first, second), baseline in product(pairs, baselines):
        task, test = tasks[second], list(Split(examples.path("test", second), tasks[second]))
        predictions = learnt[first, baseline]((example for example, _ in test), spell[second])
        for metric, score in task.scores([gold for _, gold in test], predictions).items():
            about = task.name, metric, score.value, score.count, second, first
            rows.append(Floor(baseline.name, baseline.title, *about, items=score.items))
    return rows


def spelling(languages: Languages, name: str) -> Spell:
    """Return a function that marks words with the language's name, unless they share the source's ids."""
    source, derived = Reader.of(languages, SOURCE), Reader.of(languages, name)
    return lambda word: word if derived.encode(word) == source.encode(word) else f"{word}\0{name}"
