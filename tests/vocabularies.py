from collections import Counter
from itertools import chain

from calque.derive.vocabulary import learn_of_words


def learn(sentences, size):
    return learn_of_words(Counter(chain.from_iterable(sentences)), size)


def read_as_saved(folder):
    """Name a class that reads tokenizer.json as it is; those of RoBERTa and BERT build their own."""
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
