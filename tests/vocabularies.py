"""Vocabularies learnt from a few sentences."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from calque.derive.vocabulary import Vocabulary, learn_of_words


def learn(sentences: Iterable[Sequence[str]], size: int) -> Vocabulary:
    """`size` types learnt from sentences of words."""
    return learn_of_words(Counter(chain.from_iterable(sentences)), size)
