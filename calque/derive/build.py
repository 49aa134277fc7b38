"""Build a folder with a source language and the languages derived from it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.corpus import Corpus, CorpusWriter
from calque.derive.dictionary import (
    NO_DICTIONARY,
    DictionaryConfig,
    draw_dictionary,
    usual_tags,
    with_wrong_pairs,
    write_dictionary,
)
from calque.derive.encode import ChunkEncoder, Encoded, EncodedChunk, NumberedChunk, one_to_one
from calque.derive.errors import BadInput
from calque.derive.files import check_name
from calque.derive.fingerprint import fingerprint, own_code, sha256, with_code
from calque.derive.languages import (
    DICTIONARY,
    FORMAT,
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
from calque.derive.sentence import Question, Sentence
from calque.derive.source import Source
from calque.derive.sources.files import TAGGED
from calque.derive.transform import Transform, trial_image
from calque.derive.vocabulary import (
    SMALLEST,
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


def check_transforms(transforms: Sequence[Transform]) -> None:
    """Raise BadInput if transforms have invalid or repeated names, or parts that cannot be composed."""
    names, reserved = [transform.name for transform in transforms], (*RESERVED, PREVIEW)
    if len({*names, *reserved}) < len(names) + len(reserved):
        chosen, forbidden = ", ".join(names), " or ".join(reserved)
        raise BadInput(f"the transforms {chosen} need different names, and none may be called {forbidden}")
    for transform in transforms:
        check_name(transform.name, "the transform's name")
        try:
            trial_image(transform, SMALLEST)
        except ValueError as error:
            raise BadInput(f"the transform {transform.name}: {error}") from error


def rewriting_of(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """Return the transforms that change words."""
    return tuple(transform for transform in transforms if transform.rewrites)


def languages_fingerprint(
    corpus: Callable[[bool], str],
    transforms: Sequence[Transform],
    vocabulary: int | GivenVocabulary,
    dictionary: DictionaryConfig,
    among: Sequence[Transform] = (),
    examples: Callable[[str], str] | None = None,
) -> str:
    """Return the fingerprint of the languages derived by `transforms`; `corpus` and `examples` are
    `Source.corpus_identity` and `Source.task_identity`. The vocabulary is also learnt from the images of
    `among`, all transforms in the folder that change words."""
    trees = any("tags" in transform.needs for transform in (*transforms, *among))
    types: Any = vocabulary if isinstance(vocabulary, int) else vocabulary.identity()
    if isinstance(vocabulary, int) and among:
        types = [vocabulary, [transform.identity() for transform in among]]
    identities = [transform.identity() for transform in transforms]
    tags = [examples(TAGGED)] if examples and dictionary.reads_tags else []
    print_ = fingerprint(FORMAT, corpus(trees), identities, types, dictionary.identity(), *tags)
    return with_code(print_, transforms)


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
    facts, prints = _identity(source, transforms, vocabulary, dictionary)
    trees = any("tags" in transform.needs for transform in transforms)
    source = source.ready(cache, trees, workers, progress)
    ready = [transform.ready(cache) for transform in transforms]
    encoder = ChunkEncoder(source, tuple(transforms), cache, own_code((source, transforms)))
    with new_folder(folder, facts) as out, Workers(workers, progress) as pool:
        chunks = list(enumerate(source.chunks()))
        types, forgotten = _vocabulary(vocabulary, encoder, chunks, pool)
        types.save(out.vocabulary)
        check_answers(source.questions(), types)
        encoder = replace(encoder, vocabulary=out.vocabulary, digest=sha256(out.vocabulary / TOKENIZER))
        if any("usage" in transform.needs for transform in ready):
            counts = pool.map(encoder.count_types, chunks, "counting types")
            table = sum(counts, np.zeros_like(Usage.even(types.size).table))
            np.save(out.vocabulary / USAGE, table)
            usage = Usage(table, types.cut, types.specials)
            ready = [transform.ready(usage=usage) for transform in ready]
        encoded = pool.map(encoder.encode, chunks, "encoding")
        languages, samples = _write_corpora(out, transforms, types, encoded)
        tags = usual_tags(tagged_words(source), types) if dictionary.reads_tags else None
        for transform, language in zip(ready, languages[1:], strict=True):
            _write_dictionary(out, transform, language, types, dictionary, tags)
        for name, print_ in prints.items():
            out.facts["languages"][name]["fingerprint"] = print_
        preview = preview_sentences(samples, ready)
        (out.part / PREVIEW).write_text(preview, encoding="utf-8", newline="\n")
        out.facts[VOCABULARY] = types.account | {"rare words not trained on": forgotten}
    return folder


def _identity(
    source: Source,
    transforms: Sequence[Transform],
    vocabulary: int | GivenVocabulary,
    dictionary: DictionaryConfig,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return manifest entries, and each language's fingerprint."""

    def print_of(group: Sequence[Transform], dictionary: DictionaryConfig) -> str:
        inputs = group, vocabulary, dictionary, rewriting_of(transforms), source.task_identity
        return languages_fingerprint(source.corpus_identity, *inputs)

    by_language = {SOURCE: list[Transform]()} | {transform.name: [transform] for transform in transforms}
    facts = {
        "fingerprint": print_of(transforms, dictionary),
        "config": {"transforms": list(transforms), "dictionary": dictionary},
        TEXTS: {name: print_of(group, NO_DICTIONARY) for name, group in by_language.items()},
    }
    return facts, {name: print_of(group, dictionary) for name, group in by_language.items()}


def _vocabulary(
    vocabulary: int | GivenVocabulary, encoder: ChunkEncoder, chunks: Sequence[NumberedChunk], pool: Workers
) -> tuple[Vocabulary, int]:
    if isinstance(vocabulary, GivenVocabulary):
        return vocabulary.open(), 0
    words, forgotten = add_up(pool.map(encoder.count_words, chunks, "counting words"))
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
    letters = letters_of(transform, types) if places is None else None
    out.add_image(transform.name, image, places, letters)
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
