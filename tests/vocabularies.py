"""Vocabularies learnt from a few sentences."""

from collections import Counter
from itertools import chain

from calque.derive.vocabulary import learn_of_words


def learn(sentences, size):
    """`size` types learnt from sentences of words."""
    return learn_of_words(Counter(chain.from_iterable(sentences)), size)


def read_as_saved(folder):
    """Name the class that reads a folder's tokenizer.json as it is; RoBERTa's and BERT's build their own."""
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}', encoding="utf-8"
    )
