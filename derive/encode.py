"""From a chunk's sentences to the shards of every language: words are encoded once, derived ones gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from derive.corpus import LONGEST, Shard
from derive.errors import BadInput
from derive.language import in_places
from derive.own_code import check_same
from derive.sentence import Sentence
from derive.source import Source
from derive.transform import Account, Transform, image_of
from derive.usage import Usage
from derive.vocabulary import Vocabulary, WordTable, gather

SHOWN = 10
"""How many sentences of the corpus a preview shows."""


@dataclass(frozen=True)
class CountWords:
    """Count the words of one chunk."""

    source: Source
    chunk: Any

    def __call__(self) -> Counter[str]:
        sentences, _ = self.source.sentences(self.chunk)
        return Counter(chain.from_iterable(sentence.words for sentence in sentences))


@dataclass(frozen=True)
class CountTypes:
    """Count how one chunk uses the types of the vocabulary in a folder, as `EncodeChunk` has it."""

    source: Source
    vocabulary: Path
    digest: str
    chunk: Any

    def __call__(self) -> np.ndarray:
        sentences, _ = self.source.sentences(self.chunk)
        table = _table(self.vocabulary, self.digest)
        ids, pieces = table.encode([word for sentence in sentences for word in sentence.words])
        tags = [tag for sentence in sentences for tag in sentence.tags or ("",) * len(sentence)]
        return Usage.of(ids, pieces, tags, table.size).table


@dataclass(frozen=True)
class Encoded:
    """One chunk in every language, the source first, with what there is to report of it.

    `left_out` is what the source left out; `accounts` has by transform what it did: how many spans it split, what
    it left out, what it had to leave in place. `shown` are a few sentences with their numbers, for the preview.
    """

    shards: list[Shard]
    left_out: Counter[str]
    accounts: list[Account]
    shown: list[tuple[int, Sentence]]


@dataclass(frozen=True)
class EncodeChunk:
    """Encode chunk number `index` of a source and derive it by each transform.

    A sentence's number, from which random transforms draw, is `index` * 2^32 + its place in the chunk: known
    to a worker that has read no other chunk. `digest` is the digest of the vocabulary's folder, and `code` the code of
    the source and the transforms (`derive.own_code`). What transforms learnt is in the folder `cache`, because it is
    too large to travel with each chunk.
    """

    source: Source
    transforms: tuple[Transform, ...]
    cache: Path
    vocabulary: Path
    digest: str
    index: int
    chunk: Any
    code: Mapping[str, str]

    def __call__(self) -> Encoded:
        check_same((self.source, self.transforms), self.code)
        sentences, left_out = self.source.sentences(self.chunk)
        table = _table(self.vocabulary, self.digest)
        numbered = [(number, s) for number, s in enumerate(sentences, start=self.index << 32) if s.words]
        left_out["empty sentences"] += len(sentences) - len(numbered)
        shard = encode(numbered, table)
        shards, accounts = [shard], []
        for transform in self.transforms:
            ready, account = transform.ready(self.cache), Account()
            if ready.needs_usage:
                ready = ready.informed(_usage(self.vocabulary, self.digest))
            images: list[Sentence | None] = [None] * len(numbered)
            if self.source.has_images(self.chunk):
                images = [image_of(ready, sentence, number, account) for number, sentence in numbered]
            else:
                account.left_out["sentences of the source alone"] += len(numbered)
            image, places = ready.image(table.size, table.specials), ready.places(table.size, table.specials)
            shards.append(derive(shard, images, image, places))
            accounts.append(account)
        shown = [(number, s) for number, s in numbered if 3 <= len(s) <= 25][:SHOWN] if self.index == 0 else []
        return Encoded(shards, +left_out, accounts, shown)


def call(job: CountWords | CountTypes | EncodeChunk) -> Any:
    """Run a job: what worker processes are given."""
    return job()


def encode(numbered: Sequence[tuple[int, Sentence]], table: WordTable) -> Shard:
    """The source language's shard of some sentences, each with its number.

    Raises:
        BadInput: a sentence or a word is longer than a shard can hold.
    """
    sentences = [sentence for _, sentence in numbered]
    words = np.fromiter(map(len, sentences), np.int64, len(sentences))
    if words.max(initial=0) > LONGEST:
        raise BadInput(f"a sentence of {words.max():,} words; a corpus holds up to {LONGEST:,} in one")
    ids, pieces = table.encode(list(chain.from_iterable(sentence.words for sentence in sentences)))
    if pieces.max(initial=0) > LONGEST:
        raise BadInput(f"a word of {pieces.max():,} sub-words; a corpus holds up to {LONGEST:,} in one")
    starts = np.repeat(np.cumsum(words) - words, words)
    origin = np.arange(len(pieces)) - starts
    return Shard(
        ids.astype(np.uint32), pieces.astype(np.uint16), origin.astype(np.uint16), words, np.arange(len(words))
    )


def derive(
    source: Shard, images: Sequence[Sentence | None], image: np.ndarray, places: np.ndarray | None = None
) -> Shard:
    """The derived language's shard: the source's words in the order of their images, ids mapped by `image` (V,), or by
    `places` (2, V) as `Transform.places` has them.

    A line whose image is None is left out.
    """
    lines = np.array([line for line, after in enumerate(images) if after is not None], dtype=np.int64)
    kept = [after for after in images if after is not None]
    words = np.fromiter(map(len, kept), np.int64, len(kept))
    origin = np.fromiter(chain.from_iterable(s.origin for s in kept), np.int64, int(words.sum()))
    order = origin + np.repeat((np.cumsum(source.words) - source.words)[lines], words)
    pieces = source.pieces[order]
    ids = in_places(gather(source.ids, source.pieces, order), pieces, image, places)
    return Shard(ids.astype(np.uint32), pieces, origin.astype(np.uint16), words, lines)


@lru_cache(maxsize=1)
def _table(vocabulary: Path, digest: str) -> WordTable:
    return WordTable(Vocabulary.load(vocabulary))


@lru_cache(maxsize=1)
def _usage(vocabulary: Path, digest: str) -> Usage:
    return Usage.load(vocabulary)
