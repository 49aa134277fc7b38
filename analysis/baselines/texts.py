"""Baselines of tasks with two texts: from the words of one, from how both overlap, and from known answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, majority, most_frequent, words_of
from derive.example import Example

STEPS = 2_000  # Iterations of the solver at most; it stops where the loss no longer falls
NEGATIONS = frozenset(
    "not n't no never none nobody nothing nowhere neither nor cannot without No Not Never None Nobody Nothing Nowhere "
    "Neither Nor Cannot Without".split()
)
QUESTION, CONTEXT = 0, 1  # the places of both texts in an example


@dataclass(frozen=True)
class MajorityLabel(Baseline):
    """Every example has the most frequent label of the training examples."""

    name: str = "majority"
    title: str = "majority"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        label = majority(examples)
        return lambda tests, _: [(label,) for _ in tests]


@dataclass(frozen=True)
class BagOfWords(Baseline):
    """Logistic regression on the counts of words in text `text`, penalised by the squared weights (scikit-learn's C=1).
    Gururangan et al. (2018) used one, on the hypothesis alone, to find what annotators give away. A text without a
    known word has the most frequent label."""

    text: int
    name: str
    title: str

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression

        rows, labels = list[Counter[str]](), list[str]()
        for example, (label,) in examples:
            rows.append(Counter(words_of(example, spell, self.text)))
            labels.append(label)
        counts = Counter(labels)
        usual = most_frequent(counts, counts)
        if len(counts) < 2 or not any(rows):
            return lambda tests, _: [(usual,) for _ in tests]
        columns = DictVectorizer(sort=False)
        model = LogisticRegression(max_iter=STEPS).fit(columns.fit_transform(rows), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            texts = [Counter(words_of(example, spell, self.text)) for example in tests]
            if not texts:
                return []
            table = columns.transform(texts)  # without the words that it does not know
            return [
                (str(label),) if known else (usual,)
                for label, known in zip(model.predict(table), table.getnnz(axis=1), strict=True)
            ]

        return answer


@dataclass(frozen=True)
class Shallow(Baseline):
    """Boosted trees (scikit-learn's, by histograms, with their defaults) on sixteen `features` of a pair of texts. The
    only words that it knows are the negations of the language that it learns; all else is whether two words are the
    same, which a new script does not change."""

    name: str = "shallow"
    title: str = "shallow features"
    surface: ClassVar[bool] = True

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        negations = frozenset(map(spell, NEGATIONS))
        rows = [(list(features(example, spell, negations).values()), gold) for example, gold in examples]
        labels = [gold[0] for _, gold in rows]
        if len(set(labels)) < 2:
            return MajorityLabel().learn([(Example(()), (label,)) for label in labels], spell)
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        with threadpool_limits(1):
            model.fit(np.array([row for row, _ in rows]), labels)

        def answer(tests: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [list(features(example, spell, negations).values()) for example in tests]
            with threadpool_limits(1):
                return [(str(label),) for label in (model.predict(np.array(rows)) if rows else ())]

        return answer


def features(example: Example, spell: Spell, negations: frozenset[str]) -> dict[str, float]:
    """The sixteen numbers of the first two texts of an example, by their names; shares of nothing are 0."""
    first, second = words_of(example, spell, 0), words_of(example, spell, 1)
    ours, theirs, pairs_of_second = set(first), set(second), set(pairwise(second))
    shared, pairs = ours & theirs, set(pairwise(first)) & pairs_of_second
    return {
        "words of the first": len(first),
        "words of the second": len(second),
        "second longer by": len(second) - len(first),
        "shared words": len(shared),
        "share of the first's words that are shared": _share(len(shared), len(ours)),
        "share of the second's words that are shared": _share(len(shared), len(theirs)),
        "Jaccard index of words": _share(len(shared), len(ours | theirs)),
        "words that only the first has": len(ours - theirs),
        "words that only the second has": len(theirs - ours),
        "shared pairs of neighbours": len(pairs),
        "share of the second's pairs of neighbours that are shared": _share(len(pairs), len(pairs_of_second)),
        "shared words in the same order": _in_order(first, second, shared),
        "negations of the first": sum(word in negations for word in first),
        "negations of the second": sum(word in negations for word in second),
        "same first word": first[:1] == second[:1],
        "same last words": first[-2:] == second[-2:],
    }


def _in_order(first: Sequence[str], second: Sequence[str], shared: set[str]) -> float:
    """The share of pairs of shared words, by their first places, that are in the same order; 1 without a pair."""
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    pairs = list(combinations((places[word] for word in dict.fromkeys(first) if word in shared), 2))
    return _share(sum(a < b for a, b in pairs), len(pairs)) if pairs else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def pair_baselines(first: str, second: str) -> tuple[Baseline, ...]:
    """Majority, each text alone, by its name (`hypothesis-only`), and shallow features of both."""
    alone = (BagOfWords(place, f"{text}-only", f"{text} only") for place, text in ((1, second), (0, first)))
    return (MajorityLabel(), *alone, Shallow())


@dataclass(frozen=True)
class KnownAnswer(Baseline):
    """A string of the context that is an answer in the training examples, from the sentence most like the question.
    That is the sentence with most different words of the question, the first of equals; a string with a word of the
    question is not taken. Without any such string the answer is a single word that the question lacks, or any word."""

    name: str = "overlap"
    title: str = "known answer, most shared words"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        known = {
            tuple(map(spell, sentence.words[span.start : span.end]))
            for example, _ in examples
            for sentence in example.texts[CONTEXT]
            for span in sentence.spans
        }
        longest = max(map(len, known), default=0)

        def answer(example: Example, spell: Spell) -> Answer:
            question = set(words_of(example, spell, QUESTION))
            # A text that stays as written is cut at its answers, whose places the baseline must not know.
            texts = (
                sentence.text.split() if any(sentence.glued) else sentence.words for sentence in example.texts[CONTEXT]
            )
            sentences = [(words, tuple(map(spell, words))) for words in texts]
            alike = sorted(sentences, key=lambda sentence: -len(question.intersection(sentence[1])))
            for usable in (lambda words: words in known, lambda words: len(words) == 1):
                for words, spelled in alike:
                    for start, end in _strings(len(words), max(1, longest)):
                        if usable(spelled[start:end]) and question.isdisjoint(spelled[start:end]):
                            return (" ".join(words[start:end]),)
            return (alike[0][0][0],)

        return lambda tests, spell: [answer(example, spell) for example in tests]


def _strings(size: int, longest: int) -> Iterator[tuple[int, int]]:
    """Starts and ends of strings of a sentence of `size` words: from left to right, the longest of each place first."""
    for start in range(size):
        for end in range(min(start + longest, size), start, -1):
            yield start, end
