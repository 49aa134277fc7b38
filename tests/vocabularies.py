"""Vocabularies learnt from a few sentences."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from calque.derive.bpe import learn_of_words
from calque.derive.vocabulary import Vocabulary


def learn(sentences: Iterable[Sequence[str]], size: int) -> Vocabulary:
    """`size` types learnt from sentences of words."""
    return learn_of_words(Counter(chain.from_iterable(sentences)), size)
