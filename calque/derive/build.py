"""Build a folder with a source language and languages derived from it; workers encode their text as ids."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive import languages
from calque.derive.corpus import LINES, LONGEST, Corpus, CorpusWriter, Ragged, ranges
from calque.derive.dictionary import (
    NO_DICTIONARY,
    DictionaryConfig,
    draw_dictionary,
    usual_tags,
    with_wrong_pairs,
    write_dictionary,
)
from calque.derive.errors import BadInput
from calque.derive.files import check_name, making, write_json
from calque.derive.fingerprint import check_same, fingerprint, own_code, sha256, with_code
from calque.derive.languages import SOURCE
from calque.derive.on_demand import PREVIEW, preview_sentences
from calque.derive.order import order_distance
from calque.derive.sentence import CHUNKS, UNKNOWN, Sentence
from calque.derive.source import Source
from calque.derive.sources.files import TAGGED
from calque.derive.transform import Account, Transform, check_parts, image_of
from calque.derive.transforms import letters_of
from calque.derive.vocabulary import (
    TOKENIZER,
    Vocabulary,
    add_up,
    given_fingerprint,
    learn_of_words,
    open_vocabulary,
)
from calque.derive.workers import Progress, Workers, silent

MEASURED = 10_000  # number of sentences used to measure the order distance
SAMPLES = 10  # number of sentences in a preview
Numbered = list[tuple[int, Sentence]]
NumberedChunk = tuple[int, Any]  # a chunk's index in its source, and the chunk


def check_transforms(transforms: Sequence[Transform]) -> None:
    """Raise BadInput for invalid or repeated names, and for parts that cannot be composed."""
    names = [*languages.RESERVED, PREVIEW]
    for transform in transforms:
        check_name(transform.name, "the transform's name")
        if transform.name in names:
            raise BadInput(f"the name of the transform {transform.name} is reserved or used twice")
        names.append(transform.name)
        check_parts(transform)


@dataclass(frozen=True)
class Derivation:
    """The inputs of a folder of derived languages. `vocabulary` is an existing tokenizer, or the number of
    types to learn, from the source and the images of transforms that change words."""

    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | Path
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)

    @property
    def rewriting(self) -> list[Transform]:
        """The transforms that change words."""
        return [transform for transform in self.transforms if transform.rewrites]

    def fingerprint(self, *names: str, dictionary: bool = True) -> str:
        """Return the fingerprint of the named languages (default: all)."""
        chosen = [transform for transform in self.transforms if not names or transform.name in names]
        config, types = self.dictionary if dictionary else NO_DICTIONARY, self.vocabulary
        learnt_from = [transform.identity() for transform in self.rewriting]
        vocabulary: Any = [types, learnt_from] if learnt_from else types
        if isinstance(types, Path):
            vocabulary = given_fingerprint(types)
        identities = [transform.identity() for transform in chosen]
        tags = [with_code(self.source.task_fingerprint(TAGGED), self.source)] if config.reads_tags else []
        trees = any(transform.needs_trees for transform in (*chosen, *self.rewriting))
        corpus = with_code(self.source.corpus_fingerprint(trees), self.source)
        parts = languages.FORMAT, corpus, identities, vocabulary, config.identity(), *tags
        return with_code(fingerprint(*parts), chosen)


Encoded = tuple[Corpus, Account]  # a chunk in one language


@dataclass(frozen=True)
class ChunkEncoder:
    """Counts and encodes the words of chunks and their images. `code` has digests of users' code."""

    source: Source
    transforms: tuple[Transform, ...]
    cache: Path
    code: Mapping[str, str]
    vocabulary: Path = Path()
    digest: str = ""  # digest of the tokenizer file

    def chunks(self) -> Iterable[NumberedChunk]:
        return enumerate(self.source.chunks())

    def count_words(self, chunk: NumberedChunk) -> Counter[str]:
        """Count the words in a chunk and in its images, if they have other words."""
        numbered = self.numbered(chunk, Account())
        counts = Counter(chain.from_iterable(sentence.words for _, sentence in numbered))
        for transform in self.transforms:
            if transform.rewrites:
                for image in _images(transform.ready(self.cache), numbered, Account()):
                    counts.update(image.words)
        del counts[UNKNOWN]
        return counts

    def encode(self, chunk: NumberedChunk) -> tuple[list[Encoded], Numbered]:
        """Encode a chunk in the source and under every transform; return the first chunk's sentences, too."""
        check_same((self.source, self.transforms), self.code)
        account, types = Account(), vocabulary_of(self.vocabulary, self.digest)
        numbered = self.numbered(chunk, account)
        source = encode_sentences([sentence for _, sentence in numbered], types)
        encoded = [(source, account)]
        for transform in self.transforms:
            ready, account = transform.ready(self.cache), Account()
            images = _images(ready, numbered, account)
            encoded.append((_encode_images(ready, source, images, types), account))
        samples = [] if chunk[0] else [item for item in numbered if 3 <= len(item[1]) <= 25]
        return encoded, samples[:SAMPLES]

    def numbered(self, chunk: NumberedChunk, account: Account) -> Numbered:
        """Return a chunk's sentences with their numbers; count exclusions."""
        sentences, left_out = self.source.sentences(chunk[1])
        numbered = [(n, s) for n, s in enumerate(sentences, CHUNKS.number(chunk[0], 0)) if s.words]
        account.left_out += left_out + Counter({"empty sentences": len(sentences) - len(numbered)})
        return numbered


def _images(transform: Transform, numbered: Numbered, account: Account) -> list[Sentence]:
    return [image_of(transform, sentence, number, account) for number, sentence in numbered]


def _encode_images(transform: Transform, source: Corpus, images: list[Sentence], types: Vocabulary) -> Corpus:
    words = np.array(list(map(len, images)), np.int64)
    origin = np.array(list(chain.from_iterable(image.origin for image in images)), np.int64)
    if transform.rewrites:
        lines = encode_sentences(images, types)
        groups = list(chain.from_iterable(image.rendered for image in images))
        places = np.array(list(chain.from_iterable(groups)), np.uint32)
        sources = Ragged.of(places, list(map(len, groups)))
        lines = replace(lines, origin=Ragged(origin, lines.pieces.ends), sources=sources)
    else:  # the words' ids in a new order
        ids, pieces = source.in_order(origin + np.repeat(source.pieces.ends[: len(words)], words))
        lines = Corpus.of(ids, pieces, words, origin)
    ids = transform.image(types.size, types.specials)[lines.tokens.values].astype(np.uint32)
    return replace(lines, tokens=Ragged(ids, lines.tokens.ends))


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


def only_images(source: Corpus, derived: Corpus, size: int) -> np.ndarray:
    """Return the only derived id of each type, (V,) int64, or -1 if it has none, several, or a shared one,
    considering one-to-one links between words of one sub-word."""
    codes = np.empty(0, np.int64)  # of linked ids: source * 2 V + derived
    for first in range(0, len(derived), LINES):
        part = derived.between(first, min(first + LINES, len(derived)))
        start, end = part.source_line[[0, -1]]
        lines, links = source.between(start, end + 1), part.sources
        assert links is not None
        word, line = links.item, part.source_line - start  # the derived word of each link
        linked = lines.pieces.ends[line[part.pieces.item[word]]] + links.values  # and its source word
        only = (np.bincount(linked)[linked] == 1) & (links.sizes[word] == 1)
        only &= (lines.pieces.values[linked] == 1) & (part.pieces.values[word] == 1)
        ids = lines.in_order(linked[only])[0].astype(np.int64)
        codes = np.union1d(codes, ids * 2 * size + part.in_order(word[only])[0])
    sources, images = np.divmod(codes, 2 * size)
    unique = (np.bincount(sources)[sources] == 1) & (np.bincount(images)[images] == 1)
    table = np.full(size, -1)
    table[sources[unique]] = images[unique]
    return table


@lru_cache(maxsize=1)  # the digest invalidates the cache when files change
def vocabulary_of(folder: Path, digest: str) -> Vocabulary:
    """Load a folder's vocabulary, whose tokenizer has this digest."""
    return Vocabulary.load(folder)


def write_corpora(
    folders: Mapping[str, Path], types: Vocabulary, chunks: Iterable[Sequence[Encoded]], derived: bool = False
) -> dict[str, tuple[dict[str, int], Account]]:
    """Write chunks of parallel lines to new corpora in `folders`, and count their types (only the first's if
    the others are `derived`). Return each corpus's numbers of sentences, words and tokens, and account."""
    writers = [CorpusWriter(folder, types.size * (1 + derived)) for folder in folders.values()]
    accounts = [Account() for _ in folders]
    for chunk in chunks:
        first = writers[0].counts["sentences"]
        for writer, total, (lines, account) in zip(writers, accounts, chunk, strict=True):
            writer.append(lines, first)
            total.add(account)
            if not derived or writer is writers[0]:
                types.count(lines.tokens.values)
    for name, writer in zip(folders, writers, strict=True):
        if not writer.counts["sentences"]:
            raise BadInput(f"{name}: no sentences remain; all are empty or were left out")
    counts = [writer.finish() for writer in writers]
    return dict(zip(folders, zip(counts, accounts, strict=True), strict=True))


def derive_languages(
    derivation: Derivation, folder: Path, cache: Path, workers: int = 1, progress: Progress = silent
) -> Path:
    """Write one derived language per transform to `folder` (see `derive.languages`)."""
    transforms, dictionary = derivation.transforms, derivation.dictionary
    check_transforms(transforms)
    check_tags(dictionary, derivation.source)
    facts = _facts(derivation)
    trees = any(transform.needs_trees for transform in transforms)
    source = derivation.source.ready(cache, trees, workers, progress)
    ready = [transform.ready(cache) for transform in transforms]
    encoder = ChunkEncoder(source, transforms, cache, own_code((source, transforms)))
    with making(folder, languages.KIND, facts) as part, Workers(workers, progress) as pool:
        types, forgotten = _vocabulary(derivation.vocabulary, encoder, pool)
        place = part / languages.VOCABULARY
        types.save(place)
        encoder = replace(encoder, vocabulary=place, digest=sha256(place / TOKENIZER))
        samples: Numbered = []
        encoded = _encoded(pool.map(encoder.encode, encoder.chunks, "encoding"), samples)
        corpora = _write_corpora(part, facts["languages"], types, encoded)
        types.save(place)
        tags = usual_tags(tagged_words(source), types) if dictionary.reads_tags else None
        for transform in ready:
            facts_of = facts["languages"][transform.name]
            _write_tables(transform, part / transform.name, facts_of, corpora, types, dictionary, tags)
        (part / PREVIEW).write_text(preview_sentences(samples, ready), encoding="utf-8", newline="\n")
        facts[languages.VOCABULARY] = types.account | {"rare words not trained on": forgotten}
    return folder


def _encoded(chunks: Iterable[tuple[list[Encoded], Numbered]], samples: Numbered) -> Iterator[list[Encoded]]:
    for encoded, sentences in chunks:
        samples += sentences
        yield encoded


def _facts(derivation: Derivation) -> dict[str, Any]:
    """Return the manifest entries that must be digested before files can change."""
    names = (SOURCE, *(transform.name for transform in derivation.transforms))
    return {
        "format": languages.FORMAT,
        "fingerprint": derivation.fingerprint(),
        "config": {"transforms": list(derivation.transforms), "dictionary": derivation.dictionary},
        "languages": {name: {"fingerprint": derivation.fingerprint(name)} for name in names},
        "pairs": [{"languages": [SOURCE, name], "folder": name} for name in names[1:]],
    }


def _vocabulary(vocabulary: int | Path, encoder: ChunkEncoder, pool: Workers) -> tuple[Vocabulary, int]:
    if isinstance(vocabulary, Path):
        return open_vocabulary(vocabulary), 0
    words, forgotten = add_up(pool.map(encoder.count_words, encoder.chunks, "counting words"))
    if not words:
        raise BadInput(f"{encoder.source.title} contains no words to learn a vocabulary from")
    pool.progress("training the vocabulary", 0, 1)
    types = learn_of_words(words, vocabulary)
    pool.progress("training the vocabulary", 1, 1)
    return types, forgotten


def _write_corpora(
    part: Path, facts: dict[str, Any], types: Vocabulary, chunks: Iterable[list[Encoded]]
) -> dict[str, Corpus]:
    """Write and return all corpora; add `facts` about each, and counts of types."""
    types.counts[:] = 0
    written = write_corpora({name: part / name for name in facts}, types, chunks, derived=True)
    read, source = written[SOURCE]
    corpora = {name: Corpus.open(part / name) for name in facts}
    for name, (counts, account) in written.items():
        corpus, is_source = corpora[name], name == SOURCE
        empty = source.left_out["empty sentences"] if is_source else 0
        origins = (corpus.origin[line].tolist() for line in range(min(MEASURED, len(corpus))))
        facts[name] |= {
            "in": {"sentences": len(corpus) + empty, "words": read["words"]},
            "out": counts,
            "left out": dict(sorted(account.left_out.items())),
            "kept in place": dict(sorted(account.kept.items())),
            "spans split": account.split_spans,
            "order distance": 0.0 if is_source else order_distance(origins),
        }
    return corpora


def _write_tables(
    transform: Transform,
    folder: Path,
    facts: dict[str, Any],
    corpora: dict[str, Corpus],
    types: Vocabulary,
    dictionary: DictionaryConfig,
    tags: np.ndarray | None,
) -> None:
    image = transform.image(types.size, types.specials)
    type_ids, images = types.types, image
    if transform.rewrites:
        images = only_images(corpora[SOURCE], corpora[transform.name], types.size)
        type_ids = type_ids[images[type_ids] >= 0]
        np.save(folder / languages.SINGLE, images)
        facts["types without one image"] = len(types.types) - len(type_ids)
    entries = draw_dictionary(dictionary, type_ids, types.counts, images)
    if dictionary.correct < 1:
        entries, unlike = with_wrong_pairs(dictionary, entries, tags)
        facts[languages.WRONG] = int((entries[:, 1] != images[entries[:, 0]]).sum())
        if unlike:
            facts["left out"]["wrong pairs of the dictionary without a common tag"] = unlike
    facts["dictionary pairs"] = len(entries)
    np.save(folder / languages.IMAGE, image)
    if (letters := letters_of(transform, types)) is not None:
        write_json(folder / languages.LETTERS, letters)
    write_dictionary(folder / languages.DICTIONARY, entries, types)


def check_tags(dictionary: DictionaryConfig, source: Source) -> None:
    """Raise BadInput if wrong pairs depend on tags that the source lacks."""
    if dictionary.reads_tags and TAGGED not in source.tasks:
        raise BadInput(f"wrong=same-tag needs {TAGGED} examples, which {source.title} lacks")


def tagged_words(source: Source) -> Iterable[tuple[str, str]]:
    """Yield the words and tags of the training examples for tagging."""
    for example in source.task_data(TAGGED).examples["train"]:
        for sentence in example.sentences:
            yield from zip(sentence.words, sentence.tags, strict=True)
