"""Metrics, with examples' contributions, and model-free baselines. Answers: as in SQuAD and MLQA."""

from __future__ import annotations

import math
import re
import string
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar
from unicodedata import category

from calque.analysis.records.record import Items
from calque.derive.sentence import Example, spans_of

Answer = Sequence[str]  # one label per word, one label per example, or the answers to a question
Examples = Iterable[tuple[Example, Answer]]  # examples with gold answers
Spell = Callable[[str], str]  # returns a word's spelling in a language
Learnt = Callable[[Iterable[Example], Spell], list[Answer]]  # returns a trained baseline's answers
Entity = tuple[str, int, int]  # type, first word and last word, numbered across all sentences
T = TypeVar("T", bound=Hashable)
PARTS = 10**6  # items are whole numbers, so an answer's F1 is stored in millionths
STEPS = 2_000  # maximum number of solver iterations


@dataclass(frozen=True)
class Score:
    """A fraction, the number of answers behind it and, for ratios of sums, each example's contribution."""

    value: float
    count: int
    items: Items | None = None

    @classmethod
    def over(cls, hits: Iterable[int], sizes: Iterable[int], count: int | None = None) -> Score:
        """Divide the sum of `hits` by that of `sizes` (the default `count`). Raises ValueError if 0."""
        hits, sizes = list(hits), list(sizes)
        if not (total := sum(sizes)):
            raise ValueError("there are no answers to score")
        return cls(sum(hits) / total, total if count is None else count, Items.over(hits, sizes))


def accuracy(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The fraction of labels predicted correctly."""
    pairs = (zip(*answers, strict=True) for answers in zip(gold, predicted, strict=True))
    hits = [sum(label == answer for label, answer in example) for example in pairs]
    return Score.over(hits, map(len, gold))


def entities(sentences: Sequence[Answer]) -> list[set[Entity]]:
    """The entities that seqeval 1.2.2 finds by default. Without prefixes, adjacent words with the same tag
    form one entity. The tag X at the start of a sentence does not start a new entity, because seqeval reads
    all sentences as one sequence."""
    entity_sets: list[set[Entity]] = []
    last_mark, last_kind, start, place = "O", "", 0, 0
    for tags in sentences:
        entity_sets.append(set())
        for tag in (*tags, "O"):
            mark, kind = tag[0], tag[1:].split("-", maxsplit=1)[-1] or "_"
            changed = kind != last_kind
            ends = last_mark in "ES" or (last_mark in "BI" and mark in "BSO")
            if ends or (last_mark not in "O." and changed):
                entity_sets[-1].add((last_kind, start, place - 1))
            if mark in "BS" or (last_mark in "OES" and mark in "EI") or (mark not in "O." and changed):
                start = place
            last_mark, last_kind, place = mark, kind, place + 1
    return entity_sets


def entity_f1(gold: Sequence[Answer], predicted: Sequence[Answer]) -> Score:
    """The micro-averaged F1 over entities, which must match in span and type."""
    pairs = list(zip(entities(gold), entities(predicted), strict=True))
    count = sum(len(correct) for correct, _ in pairs)
    if not count:
        raise ValueError("the gold labels contain no entity, so F1 is undefined")
    hits = [2 * len(correct & output) for correct, output in pairs]
    return Score.over(hits, [len(correct) + len(output) for correct, output in pairs], count)


@dataclass(frozen=True)
class Metric:
    """A metric: its `name` in records, its `title`, and its function, unless tasks compute it in `scores`."""

    name: str
    title: str
    score: Callable[[Sequence[Answer], Sequence[Answer]], Score] | None = None


ACCURACY, F1 = Metric("accuracy", "accuracy", accuracy), Metric("f1", "F1", entity_f1)
EXACT = Metric("exact", "exact match")
ARTICLES: dict[str, str] = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "hi": "(?!)",  # matches nothing
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": r"\sال^|ال",
    "zh": "(?!)",
}
"""Regular expressions for the articles that MLQA's evaluation removes."""


def answer_words(text: str, language: str = "") -> list[str]:
    """Split a text into words by SQuAD's rules, without ASCII punctuation and articles. With a `language`,
    follow MLQA's rules: any script's punctuation is removed, and each Chinese character is a word."""
    letters = (letter for letter in text.lower() if letter not in string.punctuation)
    kept = (letter for letter in letters if not (language and category(letter)[0] == "P"))
    bare = re.sub(ARTICLES[language or "en"], " ", "".join(kept))
    return (re.sub("([\u4e00-\u9fa5])", r" \1 ", bare) if language == "zh" else bare).split()


def answer_scores(
    gold: Sequence[Answer], predicted: Sequence[Answer], language: str = ""
) -> dict[str, Score]:
    """Compute exact match and F1 of `answer_words`: the best over gold answers, averaged over questions."""
    exact, ratios = [], []
    for texts, prediction in zip(gold, predicted, strict=True):
        answer, *correct = (answer_words(text, language) for text in (prediction[0], *texts))
        exact.append(answer in correct)
        ratios.append(max(_f1(reference, answer) for reference in correct))
    score = Score.over(exact, [1] * len(exact))
    parts = Items.over([round(PARTS * ratio) for ratio in ratios], [PARTS] * len(ratios))
    return {"f1": Score(math.fsum(ratios) / score.count, score.count, parts), "exact": score}


def _f1(correct: Sequence[str], predicted: Sequence[str]) -> float:
    shared = 2 * sum((Counter(correct) & Counter(predicted)).values())
    return shared / (len(correct) + len(predicted)) if shared else 0.0


class Baseline(ABC):
    """A baseline, with its name in records and its display title. Subclasses are frozen dataclasses."""

    name: str
    title: str

    @abstractmethod
    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        """Learn from examples; `spell` returns a word as it is spelled in the examples' language."""


def words_of(example: Example, spell: Spell = str, text: int = 0) -> list[str]:
    """Return the words of one of an example's texts, spelt by `spell`."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """Return the label with the largest count; ties are broken by the overall count, then alphabetically."""
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))


def most_frequent_of_each(labelled: Iterable[tuple[T, str]]) -> tuple[dict[T, str], Counter[str]]:
    """Return each item's most frequent label, and the counts of all labels."""
    by_item = defaultdict[T, Counter[str]](Counter)
    for item, label in labelled:
        by_item[item][label] += 1
    overall = sum(by_item.values(), Counter[str]())
    return {item: most_frequent(counts, overall) for item, counts in by_item.items()}, overall


@dataclass(frozen=True)
class Majority(Baseline):
    """Assigns the most frequent training label to every example or, with `of_words`, to every word."""

    name: str = "majority"
    title: str = "majority"
    of_words: bool = False

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        counts = Counter(label for _, gold in examples for label in gold)
        label = most_frequent(counts, counts)

        def size(test: Example) -> int:
            return sum(map(len, test.texts[0])) if self.of_words else 1

        return lambda tests, _: [(label,) * size(test) for test in tests]


@dataclass(frozen=True)
class Unigram(Baseline):
    """Assigns to every word its most frequent training tag, and to new words the most frequent tag."""

    name: str = "unigram"
    title: str = "unigram"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        pairs = (zip(words_of(example, spell), gold, strict=True) for example, gold in examples)
        tags, overall = most_frequent_of_each(chain.from_iterable(pairs))
        unknown = most_frequent(overall, overall)
        return lambda tests, spell: [
            tuple(tags.get(word, unknown) for word in words_of(test, spell)) for test in tests
        ]


@dataclass(frozen=True)
class Gazetteer(Baseline):
    """Tags the training data's names, from left to right, the longest first, in IOB2."""

    name: str = "gazetteer"
    title: str = "gazetteer"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        names = list[tuple[tuple[str, ...], str]]()
        for example, gold in examples:
            words = words_of(example, spell)
            names += [(tuple(words[span.start : span.end]), span.label) for span in spans_of(gold)]
        types, _ = most_frequent_of_each(names)
        longest = max(map(len, types), default=0)

        def answer(test: Example, spell: Spell) -> Answer:
            words, tags = words_of(test, spell), list[str]()
            while (start := len(tags)) < len(words):
                for length in range(min(longest, len(words) - start), 0, -1):
                    if kind := types.get(tuple(words[start : start + length])):
                        tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
                        break
                else:
                    tags.append("O")
            return tags

        return lambda tests, spell: [answer(test, spell) for test in tests]


@dataclass(frozen=True)
class BagOfWords(Baseline):
    """Logistic regression on the word counts of the text with index `text` (Gururangan et al. 2018)."""

    text: int
    name: str
    title: str

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression

        rows, labels = zip(
            *((self._row(example, spell), label) for example, (label,) in examples), strict=True
        )
        counts, words = Counter(labels), DictVectorizer(sort=False)
        usual = most_frequent(counts, counts)
        if len(counts) < 2 or not any(rows):
            return lambda tests, _: [(usual,) for _ in tests]
        model = LogisticRegression(max_iter=STEPS).fit(words.fit_transform(rows), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [self._row(example, spell) for example in tests]
            new = (words.vocabulary_.keys().isdisjoint(row) for row in rows)
            predicted = zip(new, model.predict(words.transform(rows)), strict=True)
            return [(usual if is_new else str(label),) for is_new, label in predicted]

        return answer

    def _row(self, example: Example, spell: Spell) -> Counter[str]:
        return Counter(words_of(example, spell, self.text))


def pair_baselines(first: str, second: str) -> tuple[Baseline, ...]:
    """Return the baselines for pairs of texts, which are called `first` and `second`."""
    alone = (BagOfWords(place, f"{text}-only", f"{text} only") for place, text in ((1, second), (0, first)))
    return (Majority(), *alone)
