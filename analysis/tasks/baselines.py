"""Model-free baselines for tagging, for labelled texts and pairs of texts, and for questions."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from calque.derive.example import Example
from calque.derive.sentence import spans_of

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
        """Learn from examples, whose words `spell` returns as spelled in their language. Raises ValueError if
        there are none."""


def words_of(example: Example, spell: Spell, text: int = 0) -> list[str]:
    """Return the words in an example's text number `text`, as spelled in a language."""
    return [spell(word) for sentence in example.texts[text] for word in sentence.words]


def most_frequent(counts: Counter[str], overall: Counter[str]) -> str:
    """Return the label with the largest count; ties are broken by the overall count, then alphabetically."""
    if not counts:
        raise ValueError("there are no labels to learn from")
    return min(counts, key=lambda label: (-counts[label], -overall[label], label))


def most_frequent_of_each(labelled: Iterable[tuple[T, str]]) -> tuple[dict[T, str], Counter[str]]:
    """Return each item's most frequent label, and the counts of all labels."""
    by_item: dict[T, Counter[str]] = {}
    overall: Counter[str] = Counter()
    for item, label in labelled:
        by_item.setdefault(item, Counter())[label] += 1
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
        return lambda tests, _: [
            (label,) * (sum(map(len, test.texts[0])) if self.of_words else 1) for test in tests
        ]


@dataclass(frozen=True)
class Unigram(Baseline):
    """Assigns to every word its most frequent tag in training, and to unknown words the most frequent tag
    overall."""

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
    """Tags, in IOB2, every sequence of words that is a name in training, with the name's most frequent type.
    Matching is greedy, from left to right, and prefers longer names."""

    name: str = "gazetteer"
    title: str = "gazetteer"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        names = list[tuple[tuple[str, ...], str]]()
        for example, gold in examples:
            words = words_of(example, spell)
            names += [(tuple(words[span.start : span.end]), span.label) for span in spans_of(gold)]
        types, _ = most_frequent_of_each(names)
        longest = max(map(len, ((), *types)))
        return lambda tests, spell: [_tags(words_of(example, spell), types, longest) for example in tests]


def _tags(words: Sequence[str], types: Mapping[tuple[str, ...], str], longest: int) -> Answer:
    tags: list[str] = []
    while len(tags) < len(words):
        at = len(tags)
        for length in range(min(longest, len(words) - at), 0, -1):
            if kind := types.get(tuple(words[at : at + length])):
                tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
                break
        else:
            tags.append("O")
    return tags


@dataclass(frozen=True)
class BagOfWords(Baseline):
    """Logistic regression (scikit-learn with C=1) on the word counts of only text number `text`, such as the
    hypothesis (Gururangan et al. 2018)."""

    text: int
    name: str
    title: str

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        from sklearn.linear_model import LogisticRegression

        columns: dict[str, int] = {}
        rows, labels = list[Counter[int]](), list[str]()
        for example, (label,) in examples:
            words = words_of(example, spell, self.text)
            rows.append(Counter(columns.setdefault(word, len(columns)) for word in words))
            labels.append(label)
        counts = Counter(labels)
        usual = most_frequent(counts, counts)
        if len(counts) < 2 or not columns:
            return lambda tests, _: [(usual,) for _ in tests]
        model = LogisticRegression(max_iter=STEPS).fit(_matrix(rows, len(columns)), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            texts = (words_of(example, spell, self.text) for example in tests)
            rows = [Counter(columns[word] for word in words if word in columns) for words in texts]
            predicted = model.predict(_matrix(rows, len(columns))) if rows else ()
            return [(str(label),) if row else (usual,) for row, label in zip(rows, predicted, strict=True)]

        return answer


def _matrix(rows: Sequence[Counter[int]], width: int) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *map(len, rows)])
    columns = [column for row in rows for column in row]
    values = [float(count) for row in rows for count in row.values()]
    return csr_matrix((values, columns, ends), shape=(len(rows), width))


@dataclass(frozen=True)
class Shallow(Baseline):
    """Histogram-based gradient boosting (scikit-learn) on sixteen `features` of a pair of texts: lengths,
    shared words and their order, and negations in the training language."""

    name: str = "shallow"
    title: str = "shallow features"
    surface: ClassVar[bool] = True

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        negations = frozenset(map(spell, NEGATIONS))
        rows = [(features(example, spell, negations), gold) for example, gold in examples]
        labels = [gold[0] for _, gold in rows]
        if len(set(labels)) < 2:
            return Majority().learn([(Example(()), (label,)) for label in labels], spell)
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        with threadpool_limits(1):
            model.fit(np.array([row for row, _ in rows]), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [features(example, spell, negations) for example in tests]
            with threadpool_limits(1):
                return [(str(label),) for label in (model.predict(np.array(rows)) if rows else ())]

        return answer


def features(example: Example, spell: Spell, negations: frozenset[str]) -> list[float]:
    """Compute sixteen features of an example's first two texts; a share with denominator 0 is 0."""
    first, second = words_of(example, spell, 0), words_of(example, spell, 1)
    ours, theirs, pairs_of_second = set(first), set(second), set(pairwise(second))
    shared, pairs = ours & theirs, set(pairwise(first)) & pairs_of_second
    lengths = [len(first), len(second), len(second) - len(first)]
    overlap = [len(shared), *(_share(len(shared), len(of)) for of in (ours, theirs, ours | theirs))]
    differences = [len(ours - theirs), len(theirs - ours)]
    order = [len(pairs), _share(len(pairs), len(pairs_of_second)), _in_order(first, second, shared)]
    negated = [sum(word in negations for word in text) for text in (first, second)]
    ends = [first[:1] == second[:1], first[-2:] == second[-2:]]
    return [*lengths, *overlap, *differences, *order, *negated, *ends]


def _in_order(first: Sequence[str], second: Sequence[str], shared: set[str]) -> float:
    """Return the share of pairs of shared words that first occur in the same order in both texts."""
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    pairs = list(combinations((places[word] for word in dict.fromkeys(first) if word in shared), 2))
    return _share(sum(a < b for a, b in pairs), len(pairs)) if pairs else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def pair_baselines(first: str, second: str) -> tuple[Baseline, ...]:
    """Return the baselines for pairs of texts: majority, the words of a single text (such as
    `hypothesis-only`), and shallow features."""
    alone = (BagOfWords(place, f"{text}-only", f"{text} only") for place, text in ((1, second), (0, first)))
    return (Majority(), *alone, Shallow())


@dataclass(frozen=True)
class KnownAnswer(Baseline):
    """Answers with a string that was a training answer, from the sentence in the context that shares the most
    words with the question."""

    name: str = "overlap"
    title: str = "known answer, most shared words"

    def learn(self, examples: Examples, spell: Spell) -> Learnt:
        known = {
            tuple(map(spell, sentence.words[span.start : span.end]))
            for example, _ in examples
            for sentence in example.texts[1]
            for span in sentence.spans
        }
        longest = max(map(len, (("any word",), *known)))

        def answer(example: Example, spell: Spell) -> Answer:
            question = set(words_of(example, spell))
            # Texts kept as written are split at spaces, because their words would reveal where answers are.
            texts = (each.text.split() if any(each.glued) else each.words for each in example.texts[1])
            sentences = [(words, tuple(map(spell, words))) for words in texts]
            alike = sorted(sentences, key=lambda sentence: -len(question.intersection(sentence[1])))
            # All strings from left to right, starting with the longest at each position.
            strings = [
                (words[start:end], spelled[start:end])
                for words, spelled in alike
                for start in range(len(words))
                for end in range(min(start + longest, len(words)), start, -1)
            ]
            for usable in (lambda words: words in known, lambda words: len(words) == 1):
                for words, spelled in strings:
                    if usable(spelled) and question.isdisjoint(spelled):
                        return (" ".join(words),)
            return (alike[0][0][0],)

        return lambda tests, spell: [answer(example, spell) for example in tests]
