"""Sentences and their translations as a pair of languages on disk, which pretraining reads like a derived study.

Both languages share one vocabulary, so the image of a type is itself. Which words belong together is not known, and
there is no dictionary; `source_line` pairs every line with its translation.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from derive.artefact import making
from derive.bpe import learn_of_words
from derive.corpus import NOWHERE, CorpusWriter
from derive.derived_folder import DICTIONARY, IMAGE, KIND, LETTERS, SOURCE, VOCABULARY
from derive.dictionary import write_dictionary
from derive.encode import encode
from derive.errors import BadInput
from derive.files import fingerprint, write_json
from derive.sentence import Sentence
from derive.vocabulary import Vocabulary, WordTable

FORMAT = 3
"""Goes up when the same sentences would give other files."""
CHUNK = 10_000
"""Sentence pairs that are encoded at a time."""

Pairs = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
"""The words of sentences and of their translations, none without words."""


def translation_fingerprint(pairs: Pairs, vocabulary_size: int) -> str:
    """Twelve hexadecimal digits that change whenever the files would."""
    digest = hashlib.sha256()
    for source, target in pairs:
        digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
    return fingerprint(FORMAT, digest.hexdigest(), vocabulary_size)


def write_translation(pairs: Pairs, language: str, vocabulary_size: int, folder: Path) -> Path:
    """Write the pair (source, `language`) to `folder`, which is whole or absent.

    The vocabulary is learnt from both sides at once.

    Returns:
        `folder`.

    Raises:
        BadInput: no pairs, a sentence without words, or a vocabulary larger than they support.
    """
    for number, pair in enumerate(pairs, start=1):
        if not all(pair):
            raise BadInput(f"sentence pair {number:,} has a side without words")
    words = Counter(chain.from_iterable(chain.from_iterable(pairs)))
    vocabulary = learn_of_words(words, vocabulary_size)
    identity = np.arange(vocabulary.size)
    print_ = translation_fingerprint(pairs, vocabulary_size)
    facts = {
        "format": FORMAT,
        "fingerprint": print_,
        "vocabulary": vocabulary.account,
    }
    with making(folder, KIND, facts) as part:
        vocabulary.save(part / VOCABULARY)
        made = [_write(part, side, name, pairs, vocabulary) for side, name in enumerate((SOURCE, language))]
        np.save(part / language / IMAGE, identity)
        write_dictionary(part / language / DICTIONARY, np.empty((0, 2), np.int64), vocabulary)
        write_json(part / language / LETTERS, {})
        facts["languages"] = {SOURCE: made[0], language: made[1] | {"fingerprint": print_}}
    return folder


def _write(part: Path, side: int, name: str, pairs: Pairs, vocabulary: Vocabulary) -> dict[str, object]:
    """Write one side's corpus, and return what the manifest says of it."""
    table = WordTable(vocabulary)
    with CorpusWriter(part / name, vocabulary.size) as writer:
        for first in range(0, len(pairs), CHUNK):
            sentences = [Sentence(pair[side]) for pair in pairs[first : first + CHUNK]]
            shard = encode(list(enumerate(sentences)), table)
            if side:
                shard = replace(shard, origin=np.full_like(shard.origin, NOWHERE))
            writer.append(shard, first)
    return {"out": {"sentences": writer.sentences, "words": writer.words, "tokens": writer.tokens}}
