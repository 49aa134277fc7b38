"""Learning a vocabulary: byte-level BPE over the words of a corpus."""

import re
from collections.abc import Mapping
from itertools import chain, islice, repeat

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, processors, trainers
from tokenizers.decoders import ByteLevel as Bytes

from calque.derive.errors import BadInput
from calque.derive.types import OURS, SPECIALS
from calque.derive.vocabulary import Vocabulary

SMALLEST = len(SPECIALS) + len(pre_tokenizers.ByteLevel.alphabet())
"""Every vocabulary has the special types and all 256 bytes, so it can encode any text."""
BETWEEN_WORDS = "[ \t\r\n]+"  # separates words; other white space (U+00A0, U+3000) is treated as a letter
_PART = re.compile("[^ \t\r\n]+")

Counts = Mapping[str, int]


def learn_of_words(words: Counts, size: int) -> Vocabulary:
    """Learn `size` types from the word counts of a corpus."""
    if size < SMALLEST:
        raise BadInput(f"a vocabulary of {size:,} types; expected at least {SMALLEST} (special types and bytes)")
    if not words:
        raise BadInput("no words to learn a vocabulary from")
    tokenizer = _train(words, size)
    if tokenizer.get_vocab_size() < size:
        reach = tokenizer.get_vocab_size()
        raise BadInput(
            f"a vocabulary of {size:,} types is more than the corpus supports: its {len(words):,} distinct words "
            f"({sum(words.values()):,} in all) give {reach:,}; ask for at most {reach:,} or provide more text"
        )
    vocabulary = Vocabulary(tokenizer, np.zeros(size, dtype=np.int64), OURS)
    ids, pieces = vocabulary.encode_all(list(words))
    counts = np.fromiter(words.values(), np.int64, len(words))
    np.add.at(vocabulary.counts, ids, np.repeat(counts, pieces))
    return vocabulary


def _train(words: Counts, size: int) -> Tokenizer:
    spell = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    spelt = (
        (spell.pre_tokenize_str(part)[0][0], words[word]) for word in sorted(words) for part in _PART.findall(word)
    )
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    # The trainer accepts no counts, so each word is repeated. Many words per line take two thirds of the time.
    occurrences = chain.from_iterable(repeat(part, count) for part, count in spelt)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(iter(lambda: " ".join(islice(occurrences, 200)), ""), trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(BETWEEN_WORDS), "removed"), spell])
    tokenizer.decoder = Bytes()
    start, end = SPECIALS[OURS.start], SPECIALS[OURS.end]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {end} {end} $B {end}",
        special_tokens=[(start, OURS.start), (end, OURS.end)],
    )
    # `<mask>` absorbs the space before it, as RoBERTa's does.
    tokenizer.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in SPECIALS])
    return tokenizer
