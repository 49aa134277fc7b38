"""From a chunk's sentences to the shards of every language: source words are encoded once, derived words gathered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.corpus import LONGEST, Shard
from calque.derive.errors import BadInput
from calque.derive.fingerprint import check_same
from calque.derive.language import in_places
from calque.derive.sentence import CHUNKS, Sentence
from calque.derive.source import Source
from calque.derive.transform import Account, Transform, image_of
from calque.derive.usage import USAGE, Usage
from calque.derive.vocabulary import Vocabulary, WordTable, gather, read_array

SAMPLES = 10  # sentences of the corpus in a preview
NumberedChunk = tuple[int, Any]  # a chunk of a source with its number


def count_words(source: Source, chunk: NumberedChunk) -> Counter[str]:
    sentences, _ = source.sentences(chunk[1])
    return Counter(chain.from_iterable(sentence.words for sentence in sentences))


def count_types(source: Source, vocabulary: Path, digest: str, chunk: NumberedChunk) -> np.ndarray:
    """`Usage.table` of a chunk, with the vocabulary in a folder whose contents have the `digest`."""
    sentences, _ = source.sentences(chunk[1])
    table = _table(vocabulary, digest)
    ids, pieces = table.encode([word for sentence in sentences for word in sentence.words])
    tags = [tag for sentence in sentences for tag in sentence.tags or ("",) * len(sentence)]
    return Usage.of(ids, pieces, tags, table.size).table


@dataclass(frozen=True)
class EncodedChunk:
    """A chunk in every language, the source first; exclusions, accounts of transforms, and sentences to preview."""

    shards: list[Shard]
    left_out: Counter[str]
    accounts: list[Account]
    samples: list[tuple[int, Sentence]]


def encode_chunk(
    source: Source,
    transforms: Sequence[Transform],
    cache: Path,
    vocabulary: Path,
    digest: str,
    code: Mapping[str, str],
    numbered_chunk: NumberedChunk,
) -> EncodedChunk:
    """Encode a chunk and derive it by each transform. `digest` is of the vocabulary's folder, `code` of the source and
    the transforms (`derive.fingerprint`). Trained transforms, too large to send to workers, are read from `cache`."""
    check_same((source, transforms), code)
    index, chunk = numbered_chunk
    sentences, left_out = source.sentences(chunk)
    table = _table(vocabulary, digest)
    numbered = [(number, s) for number, s in enumerate(sentences, CHUNKS.number(index, 0)) if s.words]
    left_out["empty sentences"] += len(sentences) - len(numbered)
    shard = encode(numbered, table)
    shards, accounts = [shard], []
    for transform in transforms:
        ready, account = transform.ready(cache), Account()
        if "usage" in ready.needs:
            ready = ready.informed(_usage(vocabulary, digest))
        images: list[Sentence | None] = [None] * len(numbered)  # None: only the source has the sentence
        if source.has_images(chunk):
            images = [image_of(ready, sentence, number, account) for number, sentence in numbered]
        else:
            account.left_out["sentences of the source alone"] += len(numbered)
        image, places = ready.image(table.size, table.specials), ready.places(table.size, table.specials)
        shards.append(derive(shard, images, image, places))
        accounts.append(account)
    samples = [(number, s) for number, s in numbered if 3 <= len(s) <= 25][:SAMPLES] if index == 0 else []
    return EncodedChunk(shards, +left_out, accounts, samples)


def encode(numbered: Sequence[tuple[int, Sentence]], table: WordTable) -> Shard:
    sentences = [sentence for _, sentence in numbered]
    words = np.fromiter(map(len, sentences), np.int64, len(sentences))
    if words.max(initial=0) > LONGEST:
        raise BadInput(f"a sentence of {words.max():,} words; expected at most {LONGEST:,}")
    ids, pieces = table.encode(list(chain.from_iterable(sentence.words for sentence in sentences)))
    if pieces.max(initial=0) > LONGEST:
        raise BadInput(f"a word of {pieces.max():,} sub-words; expected at most {LONGEST:,}")
    starts = np.repeat(np.cumsum(words) - words, words)
    origin = np.arange(len(pieces)) - starts
    return Shard(ids.astype(np.uint32), pieces.astype(np.uint16), words, origin.astype(np.uint16))


def derive(source: Shard, images: Sequence[Sentence | None], image: np.ndarray, places: np.ndarray | None) -> Shard:
    """The source's words in the order of `images`, without lines of None; `image`, `places` are `Transform`'s."""
    lines = np.array([line for line, after in enumerate(images) if after is not None], dtype=np.int64)
    kept = [after for after in images if after is not None]
    words = np.fromiter(map(len, kept), np.int64, len(kept))
    origin = np.fromiter(chain.from_iterable(s.origin for s in kept), np.int64, int(words.sum()))
    order = origin + np.repeat((np.cumsum(source.words) - source.words)[lines], words)
    pieces = source.pieces[order]
    ids = in_places(gather(source.ids, source.pieces, order), pieces, image, places)
    return Shard(ids.astype(np.uint32), pieces, words, origin.astype(np.uint16), lines)


@lru_cache(maxsize=1)
def _table(vocabulary: Path, digest: str) -> WordTable:
    return WordTable(Vocabulary.load(vocabulary))


@lru_cache(maxsize=1)
def _usage(vocabulary: Path, digest: str) -> Usage:
    return Usage(read_array(vocabulary / USAGE, "the corpus's usage of types"))
