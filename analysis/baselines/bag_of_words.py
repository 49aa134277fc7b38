"""A label from the words of one of an example's texts, whatever the other text says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, most_frequent, words_of
from derive.example import Example

STEPS = 2_000
"""Of the solver at most; it stops where the loss no longer falls."""


@dataclass(frozen=True)
class BagOfWords(Baseline):
    """Logistic regression on the counts of words in text `text`, penalised by the squared weights (scikit-learn's C=1).

    Gururangan et al. (2018) found with such a one, on the hypothesis alone, what annotators give away. A text without a
    known word has the most frequent label.
    """

    text: int
    name: str
    title: str

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        known: dict[str, int] = {}
        rows: list[Counter[int]] = []
        labels: list[str] = []
        for example, (label,) in examples:
            words = words_of(example, spell, self.text)
            rows.append(Counter(known.setdefault(word, len(known)) for word in words))
            labels.append(label)
        counts = Counter(labels)
        majority = most_frequent(counts, counts)
        if len(counts) < 2 or not known:
            return lambda asked, _: [(majority,) for _ in asked]
        model = _fitted(_matrix(rows, len(known)), labels)

        def answer(asked: Iterable[Example], spell: Spell) -> list[Answer]:
            texts = (words_of(example, spell, self.text) for example in asked)
            rows = [Counter(known[word] for word in words if word in known) for words in texts]
            said = model.predict(_matrix(rows, len(known))) if rows else ()
            return [(str(label),) if row else (majority,) for row, label in zip(rows, said, strict=True)]

        return answer


def _fitted(matrix: Any, labels: Sequence[str]) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=STEPS).fit(matrix, labels)


def _matrix(rows: Sequence[Counter[int]], width: int) -> Any:
    """Counts as a sparse matrix, a row an example."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *map(len, rows)])
    columns = [column for row in rows for column in row]
    values = [float(count) for row in rows for count in row.values()]
    return csr_matrix((values, columns, ends), shape=(len(rows), width))
