"""A label from how two texts overlap, how long they are and whether they negate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import ClassVar

import numpy as np

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, words_of
from analysis.baselines.majority import MajorityLabel
from derive.example import Example

NEGATIONS = frozenset(
    "not n't no never none nobody nothing nowhere neither nor cannot without No Not Never None Nobody Nothing Nowhere "
    "Neither Nor Cannot Without".split()
)
FEATURES = (
    "words of the first",
    "words of the second",
    "second longer by",
    "shared words",
    "share of the first's words that are shared",
    "share of the second's words that are shared",
    "Jaccard index of words",
    "words that only the first has",
    "words that only the second has",
    "shared pairs of neighbours",
    "share of the second's pairs of neighbours that are shared",
    "shared words in the same order",
    "negations of the first",
    "negations of the second",
    "same first word",
    "same last words",
)


@dataclass(frozen=True)
class Shallow(Baseline):
    """Boosted trees (scikit-learn's, by histograms, as they come) on the sixteen `FEATURES` of a pair of texts.

    Of the words themselves it knows the negations of the language that it learns in; all else is whether two words are
    the same, which a new script does not change.
    """

    name: str = "shallow"
    title: str = "shallow features"
    surface: ClassVar[bool] = True

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        negations = frozenset(map(spell, NEGATIONS))
        kept = [(features(example, spell, negations), right) for example, right in examples]
        labels = [right[0] for _, right in kept]
        if len(set(labels)) < 2:
            return MajorityLabel().learn([(Example(()), (label,)) for label in labels], spell)
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        with threadpool_limits(1):
            model.fit(np.array([row for row, _ in kept]), labels)

        def answer(asked: Iterable[Example], spell: Spell) -> list[Answer]:
            rows = [features(example, spell, negations) for example in asked]
            with threadpool_limits(1):
                return [(str(label),) for label in (model.predict(np.array(rows)) if rows else ())]

        return answer


def features(example: Example, spell: Spell, negations: frozenset[str]) -> list[float]:
    """The numbers that `FEATURES` names, of the first two texts of an example; shares of nothing are 0."""
    first, second = words_of(example, spell, 0), words_of(example, spell, 1)
    ours, theirs = set(first), set(second)
    shared, pairs = ours & theirs, set(pairwise(first)) & set(pairwise(second))
    return [
        len(first),
        len(second),
        len(second) - len(first),
        len(shared),
        _share(len(shared), len(ours)),
        _share(len(shared), len(theirs)),
        _share(len(shared), len(ours | theirs)),
        len(ours - theirs),
        len(theirs - ours),
        len(pairs),
        _share(len(pairs), len(set(pairwise(second)))),
        _in_order(first, second, shared),
        sum(word in negations for word in first),
        sum(word in negations for word in second),
        first[:1] == second[:1],
        first[-2:] == second[-2:],
    ]


def _in_order(first: Sequence[str], second: Sequence[str], shared: set[str]) -> float:
    """The share of pairs of shared words, each where it stands first, that are in the same order; 1 without a pair."""
    places = {word: place for place, word in reversed(list(enumerate(second)))}
    pairs = list(combinations((places[word] for word in dict.fromkeys(first) if word in shared), 2))
    return _share(sum(a < b for a, b in pairs), len(pairs)) if pairs else 1.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
