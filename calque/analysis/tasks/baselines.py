"""Model-free baselines for tagging, for labelled texts and pairs of texts, and for questions."""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import ClassVar, TypeVar

import numpy as np

from calque.derive.sentence import Example, spans_of

Answer = Sequence[str]  # one label per word, one label per example, or the answers to a question
Examples = Iterable[tuple[Example, Answer]]  # examples with gold answers
Spell = Callable[[str], str]  # returns a word's spelling in a language
Learnt = Callable[[Iterable[Example], Spell], list[Answer]]  # returns a trained baseline's answers
T = TypeVar("T", bound=Hashable)
STEPS = 2_000  # maximum number of solver iterations
_LOWER = "not no never none nobody nothing nowhere neither nor cannot without"
NEGATIONS = frozenset(f"n't {_LOWER} {_LOWER.title()}".split())


class Baseline(ABC):
    """A baseline, with its name in records and its display title. Subclasses are frozen dataclasses."""

    name: str
    title: str
    surface: ClassVar[bool] = False

    @abstractmethod
    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        """Learn from examples; `spell` returns a word as it is spelled in the examples' language."""


def words_of(example: Example, spell: Spell = str, text: int = 0) -> list[str]:
    """Return the words of one of an example's texts, spelt by `spell`."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """Return the label with the largest count; ties are broken by the overall count, then alphabetically."""
    if not counts:
        raise ValueError("there are no labels to learn from")
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))


def most_frequent_of_each(labelled: Iterable[tuple[T, str]]) -> tuple[dict[T, str], Counter[str]]:
    """Return each item's most frequent label, and the counts of all labels."""
    by_item, overall = defaultdict[T, Counter[str]](Counter), Counter[str]()
    for item, label in labelled:
        by_item[item][label] += 1
        overall[label] += 1
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

        def answer(test: Example, spell: Spell) -> Answer:
            return tuple(tags.get(word, unknown) for word in words_of(test, spell))

        return lambda tests, spell: [answer(test, spell) for test in tests]


@dataclass(frozen=True)
class Gazetteer(Baseline):
    """Tags, in IOB2, every sequence of words that is a name in the training data, from left to right; longer
    names take precedence."""

    name: str = "gazetteer"
    title: str = "gazetteer"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        names = list[tuple[tuple[str, ...], str]]()
        for example, gold in examples:
            words = words_of(example, spell)
            names += [(tuple(words[span.start : span.end]), span.label) for span in spans_of(gold)]
        types, _ = most_frequent_of_each(names)
        longest = max(map(len, types), default=0)
        return lambda tests, spell: [_tags(words_of(example, spell), types, longest) for example in tests]


def _tags(words: Sequence[str], types: Mapping[tuple[str, ...], str], longest: int) -> Answer:
    tags: list[str] = []
    while (start := len(tags)) < len(words):
        for length in range(min(longest, len(words) - start), 0, -1):
            if kind := types.get(tuple(words[start : start + length])):
                tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
                break
        else:
            tags.append("O")
    return tags


@dataclass(frozen=True)
class BagOfWords(Baseline):
    """Logistic regression on the word counts of the text with index `text` (Gururangan et al. 2018)."""

    text: int
    name: str
    title: str

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression

        rows, labels = list[Counter[str]](), list[str]()
        for example, (label,) in examples:
            rows.append(Counter(words_of(example, spell, self.text)))
            labels.append(label)
        counts, words = Counter(labels), DictVectorizer(sort=False)
        usual = most_frequent(counts, counts)
        if len(counts) < 2 or not any(rows):
            return lambda tests, _: [(usual,) for _ in tests]
        model = LogisticRegression(max_iter=STEPS).fit(words.fit_transform(rows), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [Counter(words_of(example, spell, self.text)) for example in tests]
            coverage = [not words.vocabulary_.keys().isdisjoint(row) for row in rows]
            predicted = model.predict(words.transform(rows)) if rows else ()
            return [(str(label) if seen else usual,) for seen, label in zip(coverage, predicted, strict=True)]

        return answer


@dataclass(frozen=True)
class Shallow(Baseline):
    """Gradient boosting on sixteen features of a pair of texts: lengths, shared words and their order,
    negations, and whether the texts start and end with the same words."""

    name: str = "shallow"
    title: str = "shallow features"
    surface: ClassVar[bool] = True

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        negations, rows, labels = frozenset(map(spell, NEGATIONS)), list[list[float]](), list[str]()
        for example, (label,) in examples:
            rows.append(features(example, spell, negations))
            labels.append(label)
        if len(set(labels)) < 2:
            return lambda tests, _: [(labels[0],) for _ in tests]
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        with threadpool_limits(1):
            model.fit(np.array(rows), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [features(example, spell, negations) for example in tests]
            with threadpool_limits(1):
                return [(str(label),) for label in (model.predict(np.array(rows)) if rows else ())]

        return answer


def features(example: Example, spell: Spell, negations: frozenset[str]) -> list[float]:
    """Return numbers that describe a pair of texts."""
    first, second = words_of(example, spell, 0), words_of(example, spell, 1)
    a, b, pairs_of_second = set(first), set(second), set(pairwise(second))
    shared, pairs = a & b, pairs_of_second.intersection(pairwise(first))
    places = [second.index(word) for word in dict.fromkeys(first) if word in shared]
    order = [x < y for x, y in combinations(places, 2)] or [True]  # whether shared words keep their order
    return [
        *(len(first), len(second), len(second) - len(first)),
        *(len(shared), *(_share(len(shared), len(words)) for words in (a, b, a | b))),
        *(len(a - b), len(b - a)),
        *(len(pairs), _share(len(pairs), len(pairs_of_second)), _share(sum(order), len(order))),
        *(sum(word in negations for word in text) for text in (first, second)),
        *(first[:1] == second[:1], first[-2:] == second[-2:]),
    ]


def _share(part: int, total: int) -> float:
    return part / total if total else 0.0


def pair_baselines(first: str, second: str) -> tuple[Baseline, ...]:
    """Return the baselines for pairs of texts, which are called `first` and `second`."""
    alone = (BagOfWords(place, f"{text}-only", f"{text} only") for place, text in ((1, second), (0, first)))
    return (Majority(), *alone, Shallow())


@dataclass(frozen=True)
class KnownAnswer(Baseline):
    """Finds an answer known from training in the sentence that shares the most words with the question."""

    name: str = "overlap"
    title: str = "known answer, most shared words"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        answers = {
            tuple(map(spell, sentence.words[span.start : span.end]))
            for example, _ in examples
            for sentence in example.texts[1]
            for span in sentence.spans
        }
        longest = max(map(len, answers), default=1)
        return lambda tests, spell: [_known_answer(example, spell, answers, longest) for example in tests]


def _known_answer(example: Example, spell: Spell, answers: set[tuple[str, ...]], longest: int) -> Answer:
    """Return the first known answer, or a word that is not in the question, preferring similar sentences."""
    question, sentences = set(words_of(example, spell)), []
    for sentence in example.texts[1]:
        # Texts kept as written are split at spaces, because their words would reveal the answers' positions.
        words = sentence.text.split() if any(sentence.glued) else list(sentence.words)
        sentences.append((words, tuple(map(spell, words))))
    sentences.sort(key=lambda sentence: -len(question.intersection(sentence[1])))
    for words, spelled in sentences:
        for start in range(len(words)):
            for end in range(min(start + longest, len(words)), start, -1):
                if spelled[start:end] in answers and question.isdisjoint(spelled[start:end]):
                    return (" ".join(words[start:end]),)
    pairs = [pair for sentence in sentences for pair in zip(*sentence, strict=True)]
    return (next((word for word, spelled in pairs if spelled not in question), pairs[0][0]),)
