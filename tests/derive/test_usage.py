from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.usage import CLASSES, NEARLY, Usage, WordClass
from tests.derive.strategies import law

SIZE = 12
TAGS = (*CLASSES, "PUNCT", "NUM", "X", "")
words = st.lists(st.tuples(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4), st.sampled_from(TAGS)))


@settings(law, max_examples=200)
@given(words, st.sampled_from(["function", "names", "content"]))
def test_types_are_counted_one_by_one(text: list[tuple[list[int], str]], name: WordClass) -> None:
    ids = np.array([i for word, _ in text for i in word], np.int64)
    pieces = np.array([len(word) for word, _ in text], np.int64)
    usage = Usage.of(ids, pieces, [tag for _, tag in text], SIZE)
    everywhere = Counter(i for word, _ in text for i in word)
    ends = Counter(word[-1] for word, _ in text)
    inside = Counter(i for word, tag in text for i in word if CLASSES.get(tag) == name)
    for i in range(SIZE):
        assert (usage.counts[i], usage.at_ends[i]) == (everywhere[i], ends[i])
        assert usage.of_class(name)[i] == (everywhere[i] > 0 and inside[i] >= NEARLY * everywhere[i])
