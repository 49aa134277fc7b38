"""Build the folder of a source and its derived languages, or of a source and its translation."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.corpus import LONGEST, Corpus, CorpusWriter, Shard
from calque.derive.dictionary import (
    DictionaryConfig,
    draw_dictionary,
    own_dictionary,
    usual_tags,
    with_wrong_pairs,
    write_dictionary,
)
from calque.derive.errors import BadInput
from calque.derive.example import Question
from calque.derive.files import check_name
from calque.derive.fingerprint import check_same, code_facts, fingerprint, own_code, sha256, with_code
from calque.derive.folder import DICTIONARY, FORMAT, RESERVED, SINGLE, VOCABULARY, WRONG, FolderWriter, new_folder
from calque.derive.frequency import add_up
from calque.derive.language import SOURCE, in_places
from calque.derive.preview import PREVIEW, preview_sentences
from calque.derive.script import letters_of
from calque.derive.sentence import CHUNKS, UNKNOWN, Sentence
from calque.derive.source import Source
from calque.derive.sources.files import TAGGED
from calque.derive.transform import Account, Compose, Transform, image_of
from calque.derive.typology import order_distance
from calque.derive.usage import USAGE, Usage
from calque.derive.vocabulary import (
    SMALLEST,
    TOKENIZER,
    GivenVocabulary,
    Vocabulary,
    WordTable,
    gather,
    learn_of_words,
    read_array,
)
from calque.derive.workers import Progress, Workers, reported, silent

SAMPLES = 10  # sentences of the corpus in a preview
MEASURED = 10_000  # sentences over which the order distance is measured
TRANSLATED = 10_000  # sentence pairs of a translation per encoding step
UNLIKE = "wrong pairs of the dictionary without a common tag"
UNSEEN, SEVERAL = -1, -2  # no image of a type, and more than one

NumberedChunk = tuple[int, Any]  # a chunk of a source with its number
Pairs = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
"""The words of sentences and of their translations; no side is empty."""


def check_transforms(transforms: Sequence[Transform]) -> None:
    """Find mistakes in transforms before the text is read: invalid or repeated names, parts that do not compose."""
    names, others = [transform.name for transform in transforms], (*RESERVED, PREVIEW)
    if len({*others, *names}) < len(others) + len(names):
        raise BadInput(f"transforms {', '.join(names)}; expected different names, none of them {' or '.join(others)}")
    for transform in transforms:
        check_name(transform.name, "the transform's name")
        try:
            trial_image(transform, SMALLEST)
        except ValueError as error:
            raise BadInput(f"the transform {transform.name}: {error}") from error


def trial_image(transform: Transform, size: int) -> np.ndarray:
    """The image of `size` types before any text is read: the same ids move as with real counts. ValueError
    if the transform's parts do not compose, or one occurs twice."""
    image = transform.informed(Usage.even(size)).image(size)
    parts = [part.name for part in transform.parts] if isinstance(transform, Compose) else []
    if repeated := [name for name in parts if parts.count(name) > 1]:
        raise ValueError(f"{transform.name} has {repeated[0]} twice; expected each part once")
    return image


def learn(transforms: Sequence[Transform], cache: Path, progress: Progress) -> tuple[Transform, ...]:
    """The transforms, trained if they learn from trees; results are kept in the folder `cache`."""
    ready = []
    of = sum("trees" in transform.needs for transform in transforms)
    for transform in transforms:
        ready.append(transform.ready(cache))
        if "trees" in transform.needs:
            progress("preparing transforms", sum("trees" in transform.needs for transform in ready), of)
    return tuple(ready)


def count_words(source: Source, rewriting: Sequence[Transform], cache: Path, chunk: NumberedChunk) -> Counter[str]:
    """How often each known word occurs in a chunk and in its images by transforms that change words."""
    index, sentences = chunk[0], source.sentences(chunk[1])[0]
    counts = Counter(chain.from_iterable(sentence.words for sentence in sentences))
    for transform in [transform.ready(cache) for transform in rewriting] if source.has_images(chunk[1]) else []:
        for number, sentence in enumerate(sentences, CHUNKS.number(index, 0)):
            counts.update(image_of(transform, sentence, number, Account()).words)
    del counts[UNKNOWN]
    return counts


def count_types(source: Source, vocabulary: Path, digest: str, chunk: NumberedChunk) -> np.ndarray:
    """`Usage.table` of a chunk, with the vocabulary in a folder whose contents have the `digest`."""
    sentences, _ = source.sentences(chunk[1])
    table = _table(vocabulary, digest)
    ids, pieces = table.encode([word for sentence in sentences for word in sentence.words])
    tags = [tag for sentence in sentences for tag in sentence.tags or ("",) * len(sentence)]
    return Usage.of(ids, pieces, tags, table.size).table


@dataclass(frozen=True)
class EncodedChunk:
    """A chunk in every language, the source first; exclusions, accounts of transforms, and sentences to preview.
    `single` are the `single_images` of transforms that change words."""

    shards: list[Shard]
    single: list[np.ndarray | None]
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
    """Encode a chunk and derive it by each transform. `digest` is the vocabulary folder's, `code` the source's and the
    transforms' (`derive.fingerprint`). Trained transforms, too large to send to workers, are read from `cache`."""
    check_same((source, transforms), code)
    index, chunk = numbered_chunk
    sentences, left_out = source.sentences(chunk)
    table = _table(vocabulary, digest)
    numbered = [(number, s) for number, s in enumerate(sentences, CHUNKS.number(index, 0)) if s.words]
    left_out["empty sentences"] += len(sentences) - len(numbered)
    shard = encode(numbered, table)
    shards, accounts, single = [shard], [], list[np.ndarray | None]()
    for transform in transforms:
        ready, account = transform.ready(cache), Account()
        if "usage" in ready.needs:
            ready = ready.informed(_usage(vocabulary, digest))
        images = list[Sentence]()
        if source.has_images(chunk):
            images = [image_of(ready, sentence, number, account) for number, sentence in numbered]
        else:
            account.left_out["sentences of the source alone"] += len(numbered)
        derived = rewrite(images, table) if ready.rewrites else reorder(shard, images)
        single.append(single_images(shard, derived, table.size) if ready.rewrites else None)
        image, places = ready.image(table.size, table.specials), ready.places(table.size, table.specials)
        shards.append(replace(derived, ids=in_places(derived.ids, derived.pieces, image, places).astype(np.uint32)))
        accounts.append(account)
    samples = [(number, s) for number, s in numbered if 3 <= len(s) <= 25][:SAMPLES] if index == 0 else []
    return EncodedChunk(shards, single, +left_out, accounts, samples)


def encode(numbered: Sequence[tuple[int, Sentence]], table: WordTable) -> Shard:
    """Numbered sentences as a shard of sub-word ids; BadInput for a sentence or word that is too long."""
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


def reorder(source: Shard, images: Sequence[Sentence]) -> Shard:
    """The source's words in the order of `images`, the images of its first lines."""
    words = np.fromiter(map(len, images), np.int64, len(images))
    origin = np.fromiter(chain.from_iterable(s.origin for s in images), np.int64, int(words.sum()))
    order = origin + np.repeat((np.cumsum(source.words) - source.words)[: len(words)], words)
    return Shard(gather(source.ids, source.pieces, order), source.pieces[order], words, origin.astype(np.uint16))


def rewrite(images: Sequence[Sentence], table: WordTable) -> Shard:
    """The words of `images` in the source's script, and the source words that each renders."""
    sources = [group for s in images for group in s.sources or ((place,) for place in s.origin)]
    return replace(
        encode([(0, sentence) for sentence in images], table),
        origin=np.fromiter((place for s in images for place in s.origin), np.uint16),
        sources=np.fromiter(chain.from_iterable(sources), np.uint16),
        rendered=np.fromiter(map(len, sources), np.int64, len(sources)),
    )


def single_images(source: Shard, image: Shard, size: int) -> np.ndarray:
    """For each type of the source, the type of the image that renders its words, and the other way round: (2, size)
    int64. A link counts if one word alone renders one word, and both words are single types. UNSEEN marks types
    without such a link, SEVERAL types with links to different types."""
    assert image.sources is not None and image.rendered is not None
    starts = (np.cumsum(source.words) - source.words)[: len(image.words)]  # of each line, in the source's words
    linked = image.sources + np.repeat(np.repeat(starts, image.words), image.rendered)
    target = np.repeat(np.arange(len(image.pieces)), image.rendered)
    single = (np.bincount(linked)[linked] == 1) & (image.rendered[target] == 1)
    single &= (source.pieces[linked] == 1) & (image.pieces[target] == 1)
    ids = [
        shard.ids[np.cumsum(shard.pieces, dtype=np.int64)[words[single]] - 1]
        for shard, words in ((source, linked), (image, target))
    ]
    tables = np.full((2, size), UNSEEN)
    for table, types, found in zip(tables, ids, ids[::-1], strict=True):
        table[types] = found
        table[types[table[types] != found]] = SEVERAL
    return tables


def merged(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The `single_images` of a text, from the tables of its two parts."""
    return np.where(one == UNSEEN, other, np.where((other == UNSEEN) | (one == other), one, SEVERAL))


def one_to_one(tables: np.ndarray) -> np.ndarray:
    """The single image of each type whose image has no other source, else -1: (V,) int64."""
    forward, back = tables
    same = back[np.maximum(forward, 0)] == np.arange(len(forward))
    return np.where((forward >= 0) & same, forward, -1)


# Changed files have another digest.
_table = lru_cache(maxsize=1)(lambda folder, digest: WordTable(Vocabulary.load(folder)))
_usage = lru_cache(maxsize=1)(lambda folder, digest: Usage(read_array(folder / USAGE, "the corpus's usage of types")))


def rewriting_of(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """The transforms that change words."""
    return tuple(transform for transform in transforms if transform.rewrites)


def languages_fingerprint(
    corpus: Callable[[bool], str],
    transforms: Sequence[Transform],
    vocabulary: int | GivenVocabulary,
    dictionary: DictionaryConfig,
    among: Sequence[Transform] = (),
    examples: Callable[[str], str] | None = None,
) -> str:
    """A fingerprint of the files of these languages; `corpus` is `Source.corpus_identity`, and `examples`, for a
    dictionary that reads tags, `Source.task_identity`. `among` are all transforms of the folder that change words,
    because the vocabulary is learnt from their images too."""
    trees = any("tags" in transform.needs for transform in (*transforms, *among))
    types: Any = vocabulary if isinstance(vocabulary, int) else vocabulary.identity()
    if isinstance(vocabulary, int) and among:
        types = [vocabulary, [transform.identity() for transform in among]]
    identities = [transform.identity() for transform in transforms]
    tags = [examples(TAGGED)] if examples and dictionary.reads_tags else []
    return with_code(fingerprint(FORMAT, corpus(trees), identities, types, dictionary.identity(), *tags), transforms)


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
    """Derive a language by each transform and write the folder that models read (`derive.folder`), with a preview.
    `vocabulary` is the number of types to learn from the source, or a given tokenizer, which is used unchanged.
    Files do not depend on the number of workers. `folder` is whole or absent. Memory does not grow with the corpus.
    Slow intermediate results that other studies may reuse (grammars, trees) are kept in the folder `cache`."""
    check_transforms(transforms)
    check_tags(dictionary, source)
    corpus, rewriting = lru_cache(source.corpus_identity), rewriting_of(transforms)
    examples = lru_cache(source.task_identity)

    def print_of(chosen: Sequence[Transform]) -> str:
        return languages_fingerprint(corpus, chosen, vocabulary, dictionary, rewriting, examples)

    facts: dict[str, Any] = {
        "fingerprint": print_of(transforms),
        "config": {"transforms": list(transforms), "dictionary": dictionary},
        **code_facts(source, transforms),
    }
    trees = any("tags" in transform.needs for transform in transforms)
    source = source.ready(cache, trees, workers, progress)
    ready = learn(transforms, cache, progress)
    chunks = list(enumerate(source.chunks()))
    with new_folder(folder, facts) as out, Workers(workers) as pool:

        def over_chunks(stage: str, function: Callable[[NumberedChunk], Any]) -> Iterator[Any]:
            return reported(pool.map(function, chunks), progress, stage, len(chunks))

        forgotten = 0
        if isinstance(vocabulary, GivenVocabulary):
            types = vocabulary.open()
        else:
            counted = over_chunks("counting words", partial(count_words, source, rewriting, cache))
            words, forgotten = add_up(counted)
            if not words:
                raise BadInput(f"no words to learn a vocabulary from in {source.title}")
            progress("training the vocabulary", 0, 1)
            types = learn_of_words(words, vocabulary)
            progress("training the vocabulary", 1, 1)
        types.save(out.vocabulary)
        check_answers(source.questions(), types)
        tokenizer = out.vocabulary, sha256(out.vocabulary / TOKENIZER)
        if any("usage" in transform.needs for transform in ready):
            counts = over_chunks("counting types", partial(count_types, source, *tokenizer))
            table = reduce(np.add, counts, np.zeros_like(Usage.even(types.size).table))
            np.save(out.vocabulary / USAGE, table)
            usage = Usage(table, types.cut, types.specials)
            ready = tuple(transform.informed(usage) for transform in ready)
        derive_chunk = partial(encode_chunk, source, transforms, cache, *tokenizer, own_code((source, transforms)))
        encoded = over_chunks("encoding", derive_chunk)
        languages, samples, single = _write_corpora(out, transforms, types, encoded)
        out.facts["languages"] = languages
        languages[SOURCE]["fingerprint"] = print_of([])
        tags = usual_tags(tagged_words(source), types) if dictionary.reads_tags else None
        for transform, informed, tables in zip(transforms, ready, single, strict=True):
            image, places = informed.image(types.size, types.specials), informed.places(types.size, types.specials)
            chosen, images, place = types.types, image, out.part / transform.name
            if tables is not None:
                one = one_to_one(tables)
                images = np.where(one >= 0, in_places(one, np.ones_like(one), image, places), -1)
                chosen = chosen[images[chosen] >= 0]
                np.save(place / SINGLE, images)
                languages[transform.name]["types without one image"] = len(types.types) - len(chosen)
            entries = entries_of(dictionary, informed, types, chosen, images, tags, languages[transform.name])
            out.add_image(transform.name, image, places, None if places is not None else letters_of(transform, types))
            out.add_pair((SOURCE, transform.name), transform.name)
            write_dictionary(place / DICTIONARY, entries, types)
            languages[transform.name] |= {
                "dictionary pairs": len(entries),
                "fingerprint": print_of([transform]),
            }
        preview = preview_sentences(samples, ready)
        (out.part / PREVIEW).write_text(preview, encoding="utf-8", newline="\n")
        out.facts[VOCABULARY] = types.account | {"rare words not trained on": forgotten}
    return folder


def entries_of(
    dictionary: DictionaryConfig,
    transform: Transform,
    types: Vocabulary,
    chosen: np.ndarray,
    images: np.ndarray,
    tags: np.ndarray | None,
    facts: dict[str, Any],
) -> np.ndarray:
    """The entries of a language's dictionary, (n, 2) ids, from its `chosen` types and their images (V,). Entries left
    out and wrong ones are counted in the language's `facts`."""
    if dictionary.file:
        entries, left_out = own_dictionary(dictionary.file, types, chosen, images, transform.spell)
        facts["left out"] |= left_out
    else:
        entries = draw_dictionary(dictionary, chosen, types.counts, images)
    if dictionary.correct < 1:
        entries, unlike = with_wrong_pairs(dictionary, entries, tags)
        facts[WRONG] = int((entries[:, 1] != images[entries[:, 0]]).sum())
        facts["left out"] |= {UNLIKE: unlike} if unlike else {}
    return entries


def check_tags(dictionary: DictionaryConfig, source: Source) -> None:
    """Refuse wrong pairs of the same tag from a source without tags."""
    if dictionary.reads_tags and TAGGED not in source.tasks:
        raise BadInput(f"wrong=same-tag needs a source with examples of {TAGGED}, which {source.title} lacks")


def tagged_words(source: Source) -> Iterator[tuple[str, str]]:
    """The words of the POS training set, with their tags."""
    for example in source.task_data(TAGGED).examples["train"]:
        for sentence in chain.from_iterable(example.texts):
            yield from zip(sentence.words, sentence.tags, strict=True)


def check_answers(questions: Iterable[Question], vocabulary: Vocabulary) -> None:
    """Refuse a vocabulary that splits an answer: candidates are compared at one masked position."""
    words = sorted({word for question in questions for word in question.candidates})
    if cut := [word for word in words if len(vocabulary.encode(word)) > 1]:
        raise BadInput(
            f"{len(cut)} of {len(words)} answers are split into sub-words, such as {cut[0]!r}; expected a vocabulary "
            f"of more than {vocabulary.size:,} types, or more mentions of each fact"
        )


def _write_corpora(
    out: FolderWriter, transforms: Sequence[Transform], vocabulary: Vocabulary, encoded: Iterable[EncodedChunk]
) -> tuple[dict[str, dict[str, Any]], list[tuple[int, Sentence]], list[np.ndarray | None]]:
    """Write the corpora of the source and of the derived languages, and the vocabulary with its counts. Return the
    manifest's facts about each language, sentences for the preview, and the transforms' `single_images`."""
    names, samples = [SOURCE, *(transform.name for transform in transforms)], list[tuple[int, Sentence]]()
    rewritten = [False, *(transform.rewrites for transform in transforms)]
    single: list[np.ndarray | None] = [None] * len(transforms)
    accounts, counts = [Account() for _ in names], np.zeros_like(vocabulary.counts)
    with ExitStack() as stack:
        writers = [
            stack.enter_context(CorpusWriter(out.part / name, 2 * vocabulary.size, changed))
            for name, changed in zip(names, rewritten, strict=True)
        ]
        for chunk in encoded:
            counts += np.bincount(chunk.shards[0].ids, minlength=vocabulary.size)
            first = writers[0].sentences
            for writer, shard in zip(writers, chunk.shards, strict=True):
                writer.append(shard, first)
            for account, more in zip(accounts, [Account(left_out=chunk.left_out), *chunk.accounts], strict=True):
                account.add(more)
            samples += chunk.samples
            single = [
                table if tables is None or table is None else merged(tables, table)
                for tables, table in zip(single, chunk.single, strict=True)
            ]
    vocabulary.counts = counts
    vocabulary.save(out.vocabulary)
    empty = accounts[0].left_out["empty sentences"]
    facts: dict[str, dict[str, Any]] = {}
    for name, writer, account in zip(names, writers, accounts, strict=True):
        corpus = Corpus.open(out.part / name)
        origins = (corpus.order(line).tolist() for line in range(min(MEASURED, len(corpus))))
        facts[name] = {
            "in": {"sentences": writers[0].sentences + (empty if name == SOURCE else 0), "words": writers[0].words},
            "out": writer.facts,
            "left out": dict(sorted(account.left_out.items())),
            "kept in place": dict(sorted(account.kept.items())),
            "spans split": account.split_spans,
            "order distance": 0.0 if name == SOURCE else order_distance(origins),
        }
    return facts, samples, single


def translation_fingerprint(pairs: Pairs, vocabulary_size: int) -> str:
    """The fingerprint of `write_translation`'s folder, without holding the bitext in memory."""
    digest = hashlib.sha256()
    for source, target in pairs:
        digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
    return fingerprint(FORMAT, digest.hexdigest(), vocabulary_size)


def write_translation(pairs: Pairs, language: str, vocabulary_size: int, folder: Path) -> Path:
    """Write the source and its translation, `language`, to `folder`, which is whole or absent. They share a vocabulary
    learnt from both, so the image of a type is itself. There are no word links, and the dictionary is empty."""
    for number, pair in enumerate(pairs, start=1):
        if not all(pair):
            raise BadInput(f"sentence pair {number:,} has a side without words")
    vocabulary = learn_of_words(Counter(chain.from_iterable(chain.from_iterable(pairs))), vocabulary_size)
    print_ = translation_fingerprint(pairs, vocabulary_size)
    with new_folder(folder, {"fingerprint": print_, VOCABULARY: vocabulary.account}) as out:
        vocabulary.save(out.vocabulary)
        for side, name in enumerate((SOURCE, language)):
            table = WordTable(vocabulary)
            with CorpusWriter(out.part / name, vocabulary.size) as writer:
                for first in range(0, len(pairs), TRANSLATED):
                    sentences = [Sentence(pair[side]) for pair in pairs[first : first + TRANSLATED]]
                    shard = encode(list(enumerate(sentences)), table)
                    writer.append(shard if name == SOURCE else replace(shard, origin=None), first)
            out.facts["languages"][name] = {"out": writer.facts, "fingerprint": print_}
        out.add_image(language, np.arange(vocabulary.size), places=None, letters={})
        out.add_pair((SOURCE, language), language)
        write_dictionary(out.part / language / DICTIONARY, np.empty((0, 2), np.int64), vocabulary)
    return folder
