"""Encode chunks of a corpus as ids, for the source and the derived languages, in worker processes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive.corpus import LONGEST, Corpus, Ragged, ranges
from calque.derive.errors import BadInput
from calque.derive.fingerprint import check_same
from calque.derive.languages import in_places
from calque.derive.sentence import CHUNKS, UNKNOWN, Sentence
from calque.derive.source import Source
from calque.derive.transform import Account, Transform, image_of
from calque.derive.vocabulary import USAGE, Usage, Vocabulary

SAMPLES = 10  # number of sentences in a preview
UNSEEN, SEVERAL = -1, -2  # mark types with no image and with several images
NumberedChunk = tuple[int, Any]  # a chunk's index in its source, and the chunk


@dataclass
class Encoded:
    """A chunk in one language; `single` is the result of `single_images` if the transform changes words."""

    lines: Corpus
    account: Account = field(default_factory=Account)
    single: np.ndarray | None = None

    def add(self, other: Self) -> None:
        self.account.add(other.account)
        old, new = self.single, other.single
        if old is not None and new is not None:
            seen = np.where((new == UNSEEN) | (old == new), old, SEVERAL)
            self.single = np.where(old == UNSEEN, new, seen)


EncodedChunk = tuple[list[Encoded], list[tuple[int, Sentence]]]
"""A chunk encoded in every language (the source first), and numbered sentences for the preview."""


@dataclass(frozen=True)
class ChunkEncoder:
    """Counts and encodes the words of chunks and their images. `code` has digests of users' code."""

    source: Source
    transforms: tuple[Transform, ...]
    cache: Path
    code: Mapping[str, str]
    vocabulary: Path = Path()
    digest: str = ""  # digest of the tokenizer file

    def count_words(self, chunk: NumberedChunk) -> Counter[str]:
        """Count the words in a chunk and in its images under transforms that change words."""
        sentences = self._numbered(chunk, Account())
        counts = Counter(chain.from_iterable(sentence.words for _, sentence in sentences))
        for transform in self.transforms if self.source.has_images(chunk[1]) else ():
            if transform.rewrites:
                for image in _images(transform.ready(self.cache), sentences, Account()):
                    counts.update(image.words)
        del counts[UNKNOWN]
        return counts

    def count_types(self, chunk: NumberedChunk) -> np.ndarray:
        """Return the table of `Usage` for a chunk's source sentences."""
        types, words, tags = vocabulary_of(self.vocabulary, self.digest), list[str](), list[str]()
        for _, sentence in self._numbered(chunk, Account()):
            words += sentence.words
            tags += sentence.tags or [""] * len(sentence)
        ids, pieces = types.encode_words(words)
        return Usage.of(ids, pieces, tags, types.size).table

    def encode(self, chunk: NumberedChunk) -> EncodedChunk:
        """Encode a chunk in the source language and under every transform."""
        check_same((self.source, self.transforms), self.code)
        account, types = Account(), vocabulary_of(self.vocabulary, self.digest)
        numbered = self._numbered(chunk, account)
        source = encode_sentences([sentence for _, sentence in numbered], types)
        languages = [Encoded(source, account)]
        for transform in self.transforms:
            usage = Usage(np.load(self.vocabulary / USAGE)) if "usage" in transform.needs else None
            ready, account, images = transform.ready(self.cache, usage), Account(), list[Sentence]()
            if self.source.has_images(chunk[1]):
                images = _images(ready, numbered, account)
            else:
                account.left_out["sentences of the source alone"] += len(numbered)
            languages.append(_derived(ready, source, images, account, types))
        samples = [(n, sentence) for n, sentence in numbered if 3 <= len(sentence) <= 25][:SAMPLES]
        return languages, [] if chunk[0] else samples

    def _numbered(self, chunk: NumberedChunk, account: Account) -> list[tuple[int, Sentence]]:
        sentences, left_out = self.source.sentences(chunk[1])
        numbered = [(n, s) for n, s in enumerate(sentences, CHUNKS.number(chunk[0], 0)) if s.words]
        left_out["empty sentences"] += len(sentences) - len(numbered)
        account.left_out += left_out
        return numbered


def _images(
    transform: Transform, numbered: Sequence[tuple[int, Sentence]], account: Account
) -> list[Sentence]:
    return [image_of(transform, sentence, number, account) for number, sentence in numbered]


def _derived(
    transform: Transform, source: Corpus, images: list[Sentence], account: Account, types: Vocabulary
) -> Encoded:
    derived = rewrite(images, types) if transform.rewrites else reorder(source, images)
    single = single_images(source, derived, types.size) if transform.rewrites else None
    image = transform.image(types.size, types.specials)
    places = transform.places(types.size, types.specials)
    ids = in_places(derived.tokens.values, derived.pieces.values, image, places).astype(np.uint32)
    return Encoded(replace(derived, tokens=Ragged(ids, derived.tokens.ends)), account, single)


def encode_sentences(sentences: Sequence[Sentence], types: Vocabulary) -> Corpus:
    """Encode sentences; raise BadInput if a sentence or word is too long to store."""
    words = np.array(list(map(len, sentences)), np.int64)
    ids, pieces = types.encode_words(list(chain.from_iterable(sentence.words for sentence in sentences)))
    for sizes, what, parts in (
        (words, "sentence contains", "words"),
        (pieces, "word consists of", "sub-words"),
    ):
        if (longest := sizes.max(initial=0)) > LONGEST:
            raise BadInput(f"a {what} {longest:,} {parts}; the maximum is {LONGEST:,}")
    return Corpus.of(ids, pieces, words, ranges(0, words))


def reorder(source: Corpus, images: Sequence[Sentence]) -> Corpus:
    """Encode reordered sentences by reordering the ids of their words in `source`."""
    words = np.array(list(map(len, images)), np.int64)
    origin, firsts = _origin(images), source.pieces.ends[: len(words)]
    ids, pieces = source.in_order(origin + np.repeat(firsts, words))
    return Corpus.of(ids, pieces, words, origin)


def rewrite(images: Sequence[Sentence], types: Vocabulary) -> Corpus:
    """Encode sentences with changed words, in the source's script, with the source positions that each word
    renders."""
    lines = encode_sentences(images, types)
    sources = list(chain.from_iterable(image.rendered for image in images))
    places = np.array(list(chain.from_iterable(sources)), np.uint32)
    origin = Ragged(_origin(images), lines.pieces.ends)
    return replace(lines, origin=origin, sources=Ragged.of(places, list(map(len, sources))))


def _origin(images: Sequence[Sentence]) -> np.ndarray:
    return np.array(list(chain.from_iterable(image.origin for image in images)), np.int64)


def single_images(source: Corpus, image: Corpus, size: int) -> np.ndarray:
    """Return the only type that renders each source type, and the only source type that each type renders,
    (2, size), considering one-to-one links between words of one sub-word: UNSEEN if a type has no such link,
    and SEVERAL if its links lead to different types."""
    assert image.sources is not None
    target = image.sources.item  # the image word of each link
    linked = source.pieces.ends[image.pieces.item[target]] + image.sources.values  # and its source word
    single = (np.bincount(linked)[linked] == 1) & (image.sources.sizes[target] == 1)
    single &= (source.pieces.values[linked] == 1) & (image.pieces.values[target] == 1)
    first, second = source.in_order(linked[single])[0], image.in_order(target[single])[0]
    tables = np.full((2, size), UNSEEN)
    for table, types, partners in ((tables[0], first, second), (tables[1], second, first)):
        table[types] = partners
        table[types[table[types] != partners]] = SEVERAL
    return tables


def one_to_one(tables: np.ndarray) -> np.ndarray:
    """Return each type's only image, (V,) int64, or -1 if it has none, several, or a shared one."""
    forward, backward = tables
    mutual = backward[np.maximum(forward, 0)] == np.arange(len(forward))
    return np.where((forward >= 0) & mutual, forward, -1)


@lru_cache(maxsize=1)  # the digest invalidates the cache when files change
def vocabulary_of(folder: Path, digest: str) -> Vocabulary:
    """Load a folder's vocabulary, whose tokenizer has this digest."""
    return Vocabulary.load(folder)
