"""Build a folder with a source language and the languages derived from it, whose text is encoded as ids in
worker processes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive.corpus import LONGEST, Corpus, CorpusWriter, Ragged, ranges
from calque.derive.dictionary import (
    NO_DICTIONARY,
    DictionaryConfig,
    draw_dictionary,
    usual_tags,
    with_wrong_pairs,
    write_dictionary,
)
from calque.derive.errors import BadInput
from calque.derive.files import check_name, write_json
from calque.derive.fingerprint import check_same, fingerprint, own_code, sha256, with_code
from calque.derive.languages import (
    DICTIONARY,
    FORMAT,
    IMAGE,
    LETTERS,
    PLACES,
    RESERVED,
    SINGLE,
    SOURCE,
    TEXTS,
    VOCABULARY,
    WRONG,
    FolderWriter,
    in_places,
    new_folder,
)
from calque.derive.on_demand import PREVIEW, preview_sentences
from calque.derive.order import order_distance
from calque.derive.script import letters_of
from calque.derive.sentence import CHUNKS, UNKNOWN, Question, Sentence
from calque.derive.source import Source
from calque.derive.sources.files import TAGGED
from calque.derive.transform import Account, Transform, check_parts, image_of
from calque.derive.vocabulary import (
    TOKENIZER,
    USAGE,
    GivenVocabulary,
    Usage,
    Vocabulary,
    add_up,
    learn_of_words,
)
from calque.derive.workers import Progress, Workers, silent

MEASURED = 10_000  # number of sentences used to measure the order distance
SAMPLES = 10  # number of sentences in a preview
UNSEEN, SEVERAL = -1, -2  # mark types with no image and with several images
NumberedChunk = tuple[int, Any]  # a chunk's index in its source, and the chunk


def check_transforms(transforms: Sequence[Transform]) -> None:
    """Raise BadInput if transforms have invalid or repeated names, or parts that cannot be composed."""
    names = [*RESERVED, PREVIEW]
    for transform in transforms:
        check_name(transform.name, "the transform's name")
        if transform.name in names:
            raise BadInput(f"the name of the transform {transform.name} is reserved or used twice")
        names.append(transform.name)
        check_parts(transform)


@dataclass(frozen=True)
class Derivation:
    """The inputs of a folder of derived languages. `vocabulary` is the number of types to learn, from the
    source and the images of transforms that change words, or an existing tokenizer."""

    source: Source
    transforms: tuple[Transform, ...]
    vocabulary: int | GivenVocabulary
    dictionary: DictionaryConfig

    @property
    def facts(self) -> dict[str, Any]:
        """The entries of the folder's manifest that are known in advance."""
        names = (SOURCE, *(transform.name for transform in self.transforms))
        return {
            "fingerprint": self.fingerprint(),
            "config": {"transforms": list(self.transforms), "dictionary": self.dictionary},
            TEXTS: {name: self.fingerprint(name, dictionary=False) for name in names},
        }

    @property
    def rewriting(self) -> list[Transform]:
        """The transforms that change words."""
        return [transform for transform in self.transforms if transform.rewrites]

    def fingerprint(self, *names: str, dictionary: bool = True) -> str:
        """Return the fingerprint of the named languages (default: all), with or without dictionaries."""
        chosen = [transform for transform in self.transforms if not names or transform.name in names]
        config = self.dictionary if dictionary else NO_DICTIONARY
        trees = any("tags" in transform.needs for transform in (*chosen, *self.rewriting))
        if isinstance(self.vocabulary, int):
            learnt_from = [transform.identity() for transform in self.rewriting]
            types: Any = [self.vocabulary, learnt_from] if learnt_from else self.vocabulary
        else:
            types = self.vocabulary.identity()
        identities = [transform.identity() for transform in chosen]
        tags = [self.source.task_identity(TAGGED)] if config.reads_tags else []
        corpus = self.source.corpus_identity(trees)
        return with_code(fingerprint(FORMAT, corpus, identities, types, config.identity(), *tags), chosen)


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

    def chunks(self) -> Iterable[NumberedChunk]:
        return enumerate(self.source.chunks())

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


class CorporaWriter(ExitStack):
    """Writes corpora of parallel lines and sums their accounts (see `CorpusWriter`)."""

    def __init__(self, folders: Sequence[Path], id_limit: int) -> None:
        super().__init__()
        self.writers = [self.enter_context(CorpusWriter(folder, id_limit)) for folder in folders]
        self.totals: list[Encoded] = []

    @property
    def sentences(self) -> int:
        return self.writers[0].sentences

    def append(self, chunk: Sequence[Encoded]) -> None:
        first = self.sentences
        for writer, encoded in zip(self.writers, chunk, strict=True):
            writer.append(encoded.lines, first)
        for total, encoded in zip(self.totals, chunk, strict=False):
            total.add(encoded)
        self.totals = self.totals or list(chunk)


def derive_languages(
    source: Source,
    transforms: Sequence[Transform],
    vocabulary: int | GivenVocabulary,
    dictionary: DictionaryConfig,
    folder: Path,
    cache: Path,
    workers: int = 1,
    progress: Progress = silent,
) -> Path:
    """Write one derived language per transform to `folder` (see `derive.languages`). `vocabulary` is the
    number of types to learn, or an existing tokenizer. The number of workers does not affect the result."""
    check_transforms(transforms)
    check_tags(dictionary, source)
    derivation = Derivation(source, tuple(transforms), vocabulary, dictionary)
    facts = derivation.facts
    prints = {name: derivation.fingerprint(name) for name in facts[TEXTS]}
    trees = any("tags" in transform.needs for transform in transforms)
    source = source.ready(cache, trees, workers, progress)
    ready = [transform.ready(cache) for transform in transforms]
    encoder = ChunkEncoder(source, tuple(transforms), cache, own_code((source, transforms)))
    with new_folder(folder, facts) as out, Workers(workers, progress) as pool:
        types, forgotten = _vocabulary(vocabulary, encoder, pool)
        types.save(out.vocabulary)
        check_answers(source.questions(), types)
        encoder = replace(encoder, vocabulary=out.vocabulary, digest=sha256(out.vocabulary / TOKENIZER))
        if any("usage" in transform.needs for transform in ready):
            table = np.asarray(sum(pool.map(encoder.count_types, encoder.chunks, "counting types")))
            np.save(out.vocabulary / USAGE, table)
            ready = [transform.ready(usage=Usage(table)) for transform in ready]
        encoded = pool.map(encoder.encode, encoder.chunks, "encoding")
        languages, samples = _write_corpora(out, transforms, types, encoded)
        tags = usual_tags(tagged_words(source), types) if dictionary.reads_tags else None
        for transform, language in zip(ready, languages[1:], strict=True):
            _write_dictionary(out, transform, language, types, dictionary, tags)
        for name, entry in out.facts["languages"].items():
            entry["fingerprint"] = prints[name]
        (out.part / PREVIEW).write_text(preview_sentences(samples, ready), encoding="utf-8", newline="\n")
        out.facts[VOCABULARY] = types.account | {"rare words not trained on": forgotten}
    return folder


def _vocabulary(
    vocabulary: int | GivenVocabulary, encoder: ChunkEncoder, pool: Workers
) -> tuple[Vocabulary, int]:
    if isinstance(vocabulary, GivenVocabulary):
        return vocabulary.open(), 0
    words, forgotten = add_up(pool.map(encoder.count_words, encoder.chunks, "counting words"))
    if not words:
        raise BadInput(f"{encoder.source.title} contains no words to learn a vocabulary from")
    pool.progress("training the vocabulary", 0, 1)
    types = learn_of_words(words, vocabulary)
    pool.progress("training the vocabulary", 1, 1)
    return types, forgotten


def _write_corpora(
    out: FolderWriter,
    transforms: Sequence[Transform],
    vocabulary: Vocabulary,
    encoded: Iterable[EncodedChunk],
) -> tuple[list[Encoded], list[tuple[int, Sentence]]]:
    folders = [out.part / name for name in (SOURCE, *(transform.name for transform in transforms))]
    samples = list[tuple[int, Sentence]]()
    vocabulary.counts[:] = 0
    with CorporaWriter(folders, 2 * vocabulary.size) as corpora:
        for languages, sentences in encoded:
            vocabulary.count(languages[0].lines.tokens.values)
            corpora.append(languages)
            samples += sentences
    vocabulary.save(out.vocabulary)
    empty = corpora.totals[0].account.left_out["empty sentences"]
    for folder, writer, total in zip(folders, corpora.writers, corpora.totals, strict=True):
        corpus, account, is_source = Corpus.open(folder), total.account, folder.name == SOURCE
        origins = (corpus.origin[line].tolist() for line in range(min(MEASURED, len(corpus))))
        out.facts["languages"][folder.name] = {
            "in": {"sentences": len(corpus) + is_source * empty, "words": corpora.writers[0].words},
            "out": writer.facts,
            "left out": dict(sorted(account.left_out.items())),
            "kept in place": dict(sorted(account.kept.items())),
            "spans split": account.split_spans,
            "order distance": 0.0 if is_source else order_distance(origins),
        }
    return corpora.totals, samples


def _write_dictionary(
    out: FolderWriter,
    transform: Transform,
    language: Encoded,
    types: Vocabulary,
    dictionary: DictionaryConfig,
    tags: np.ndarray | None,
) -> None:
    image = transform.image(types.size, types.specials)
    places = transform.places(types.size, types.specials)
    type_ids, images, facts = types.types, image, out.facts["languages"][transform.name]
    if language.single is not None:
        unique = one_to_one(language.single)
        images = np.where(unique >= 0, in_places(unique, np.ones_like(unique), image, places), -1)
        type_ids = type_ids[images[type_ids] >= 0]
        np.save(out.part / transform.name / SINGLE, images)
        facts["types without one image"] = len(types.types) - len(type_ids)
    entries = draw_dictionary(dictionary, type_ids, types.counts, images)
    if dictionary.correct < 1:
        entries, unlike = with_wrong_pairs(dictionary, entries, tags)
        facts[WRONG] = int((entries[:, 1] != images[entries[:, 0]]).sum())
        if unlike:
            facts["left out"]["wrong pairs of the dictionary without a common tag"] = unlike
    facts["dictionary pairs"] = len(entries)
    np.save(out.part / transform.name / IMAGE, image)
    if places is not None:
        np.save(out.part / transform.name / PLACES, places)
    elif (letters := letters_of(transform, types)) is not None:
        write_json(out.part / transform.name / LETTERS, letters)
    out.add_pair((SOURCE, transform.name), transform.name)
    write_dictionary(out.part / transform.name / DICTIONARY, entries, types)


def check_tags(dictionary: DictionaryConfig, source: Source) -> None:
    """Raise BadInput if incorrect pairs depend on tags, which the source lacks."""
    if dictionary.reads_tags and TAGGED not in source.tasks:
        raise BadInput(f"wrong=same-tag needs {TAGGED} examples, which {source.title} lacks")


def tagged_words(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the tagged words of a source's training examples for tagging."""
    for example in source.task_data(TAGGED).examples["train"]:
        for sentence in example.sentences:
            yield from zip(sentence.words, sentence.tags, strict=True)


def check_answers(questions: Iterable[Question], vocabulary: Vocabulary) -> None:
    """Raise BadInput if an answer is split into sub-words, as questions mask a single position."""
    words = sorted({word for question in questions for word in question.candidates})
    if cut := [word for word in words if len(vocabulary.encode(word)) > 1]:
        fault = f"{len(cut)} of {len(words)} answers, such as {cut[0]!r}, are split into sub-words"
        raise BadInput(f"{fault}; use more than {vocabulary.size:,} types, or mention facts more often")
