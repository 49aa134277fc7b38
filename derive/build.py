"""Derived languages on disk: vocabulary, corpora, dictionaries and preview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from derive.artefact import making
from derive.bpe import learn_of_words
from derive.corpus import Corpus, CorpusWriter
from derive.derived_folder import DICTIONARY, IMAGE, KIND, LETTERS, PLACES, SOURCE, VOCABULARY
from derive.dictionary import DictionaryConfig, draw_dictionary, write_dictionary
from derive.encode import CountTypes, CountWords, EncodeChunk, call
from derive.files import code_facts, fingerprint, plain, sha256, with_code, write_json
from derive.own_code import own_code
from derive.prepare import check_transforms, learn
from derive.preview import PREVIEW, preview_sentences
from derive.progress import Progress, silent
from derive.question import check_answers
from derive.script import letters_of
from derive.sentence import Sentence
from derive.source import Source
from derive.transform import Account, Transform
from derive.typology import order_distance
from derive.usage import Usage, count_shared
from derive.vocabulary import GivenVocabulary, Vocabulary
from derive.workers import Workers

FORMAT = 4
"""Goes up when the same config would give other files."""
DISTINCT = 1 << 19
"""Distinct words that a vocabulary is learnt from at most: there is no end to them in a growing corpus."""
LONGEST_LEARNT = 1_000
"""Letters of the longest word that a vocabulary is learnt from; longer ones are encoded all the same."""
MEASURED = 10_000
"""Sentences over which the order distance is measured."""


def languages_fingerprint(
    corpus: Callable[[bool], str],
    transforms: Sequence[Transform],
    vocabulary: int | GivenVocabulary,
    dictionary: DictionaryConfig,
) -> str:
    """Twelve hexadecimal digits that change whenever the languages' files would.

    `corpus` is `Source.corpus_identity`. With one transform it is the fingerprint of its language, which
    other languages do not change.
    """
    trees = any(transform.needs_tags for transform in transforms)
    types = vocabulary if isinstance(vocabulary, int) else vocabulary.identity()
    identities = [transform.identity() for transform in transforms]
    return with_code(fingerprint(FORMAT, corpus(trees), identities, types, dictionary), transforms)


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
    """Derive a language by each transform and write everything that pretraining on them reads, as an `Artefact`.

    vocabulary/   the source's types, which all languages share
    source/       the source's corpus
    <language>/   a derived corpus, the id of each source type in it, its dictionary, and the letters that it exchanges
                  or the ids that types have inside words
    preview.txt   sentences beside their images

    `vocabulary` is how many types are learnt from the source, or a tokenizer's folder, whose types stay as they are.
    Files do not depend on the number of workers. `folder` is whole or absent: it is filled beside its
    place, the manifest last, and moved there at the end. Memory does not grow with the corpus. What took long to
    make and other studies may need too (grammars, trees) is kept in the folder `cache`.

    Returns:
        `folder`.

    Raises:
        BadInput: unusable text, transforms that do not fit together, or a vocabulary too large.
    """
    check_transforms(transforms)
    prints = lru_cache(source.corpus_identity)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "fingerprint": languages_fingerprint(prints, transforms, vocabulary, dictionary),
        "config": {"transforms": list(transforms), "dictionary": dictionary},
        **code_facts(source, transforms),
    }
    if any(transform.needs_tags for transform in transforms):
        source = source.with_trees(cache)
    ready = learn(transforms, cache, progress)
    with making(folder, KIND, facts) as part, Workers(workers) as pool:
        build = _Build(source, tuple(transforms), part, cache, pool, progress)
        types = build.given(vocabulary) if isinstance(vocabulary, GivenVocabulary) else build.learnt(vocabulary)
        check_answers(source.questions(), types)
        informed = build.informed(ready, types)
        facts["languages"] = build.write_corpora(types)
        for transform, made in zip(transforms, informed, strict=True):
            image, places = made.image(types.size, types.specials), made.places(types.size, types.specials)
            pairs = draw_dictionary(dictionary, types.types, types.counts, image)
            np.save(part / transform.name / IMAGE, image)
            write_dictionary(part / transform.name / DICTIONARY, pairs, types)
            if places is not None:
                np.save(part / transform.name / PLACES, places)
            elif (letters := letters_of(transform, types)) is not None:
                write_json(part / transform.name / LETTERS, letters)
            facts["languages"][transform.name] |= {
                "dictionary pairs": len(pairs),
                "shared": plain(count_shared(part / transform.name, types.types, image)),
                "fingerprint": languages_fingerprint(prints, [transform], vocabulary, dictionary),
            }
        shown = preview_sentences(build.shown, informed)
        (part / PREVIEW).write_text(shown, encoding="utf-8", newline="\n")
        facts["vocabulary"] = types.account | {"rare words not trained on": build.forgotten}
    return folder


@dataclass
class _Build:
    """The steps of `derive_languages`, which fill the folder `part`; `shown` are the preview's sentences."""

    source: Source
    transforms: tuple[Transform, ...]
    part: Path
    cache: Path
    pool: Workers
    progress: Progress
    shown: list[tuple[int, Sentence]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chunks = list(self.source.chunks())
        self.forgotten = 0

    def given(self, vocabulary: GivenVocabulary) -> Vocabulary:
        opened = vocabulary.open()
        opened.save(self.part / VOCABULARY)
        return opened

    def learnt(self, size: int) -> Vocabulary:
        words: Counter[str] = Counter()
        for counted in self._map("counting words", (CountWords(self.source, chunk) for chunk in self.chunks)):
            self.forgotten += forget_long(counted)
            words.update(counted)
            self.forgotten += forget_rare(words, DISTINCT)
        self.progress("training the vocabulary", 0, 1)
        vocabulary = learn_of_words(words, size)
        vocabulary.save(self.part / VOCABULARY)
        self.progress("training the vocabulary", 1, 1)
        return vocabulary

    def informed(self, ready: tuple[Transform, ...], vocabulary: Vocabulary) -> tuple[Transform, ...]:
        """The transforms, those that need it with how the corpus uses the types: counted, and kept in a file."""
        if not any(transform.needs_usage for transform in ready):
            return ready
        folder = self.part / VOCABULARY
        digest = sha256(folder / "tokenizer.json")
        table = np.zeros_like(Usage.even(vocabulary.size).table)
        for counted in self._map(
            "counting types", (CountTypes(self.source, folder, digest, chunk) for chunk in self.chunks)
        ):
            table += counted
        usage = Usage(table, vocabulary.cut, vocabulary.specials)
        usage.save(folder)
        return tuple(transform.informed(usage) for transform in ready)

    def write_corpora(self, vocabulary: Vocabulary) -> dict[str, dict[str, Any]]:
        """Write every language's corpus, and return what the manifest says of each."""
        folder = self.part / VOCABULARY
        digest = sha256(folder / "tokenizer.json")
        names = [SOURCE, *(transform.name for transform in self.transforms)]
        counts = np.zeros(vocabulary.size, dtype=np.int64)
        left_out: Counter[str] = Counter()
        accounts = [Account() for _ in names]
        report: dict[str, dict[str, Any]] = {}
        with ExitStack() as stack:
            writers = [stack.enter_context(CorpusWriter(self.part / name, 2 * vocabulary.size)) for name in names]
            code = own_code((self.source, self.transforms))
            jobs = (
                EncodeChunk(self.source, self.transforms, self.cache, folder, digest, index, chunk, code)
                for index, chunk in enumerate(self.chunks)
            )
            for encoded in self._map("encoding", jobs):
                counts += np.bincount(encoded.shards[0].ids, minlength=vocabulary.size)
                first = writers[0].sentences
                for writer, shard in zip(writers, encoded.shards, strict=True):
                    writer.append(shard, first)
                left_out += encoded.left_out
                for account, more in zip(accounts[1:], encoded.accounts, strict=True):
                    account.add(more)
                self.shown += encoded.shown
        vocabulary.counts = counts
        vocabulary.save(folder)
        accounts[0].left_out = left_out
        for name, writer, account in zip(names, writers, accounts, strict=True):
            empty = left_out["empty sentences"] if name == SOURCE else 0
            report[name] = {
                "in": {"sentences": writers[0].sentences + empty, "words": writers[0].words},
                "out": {"sentences": writer.sentences, "words": writer.words, "tokens": writer.tokens},
                "left out": dict(sorted(account.left_out.items())),
                "kept in place": dict(sorted(account.kept.items())),
                "spans split": account.split_spans,
                "order distance": 0.0 if name == SOURCE else self._order_distance(name),
            }
        return report

    def _order_distance(self, language: str) -> float:
        corpus = Corpus.open(self.part / language)
        return order_distance(corpus.order(line).tolist() for line in range(min(MEASURED, len(corpus))))

    def _map(self, stage: str, jobs: Iterable[CountWords | CountTypes | EncodeChunk]) -> Iterator[Any]:
        self.progress(stage, 0, len(self.chunks))
        for done, result in enumerate(self.pool.map(call, jobs), start=1):
            yield result
            self.progress(stage, done, len(self.chunks))


def forget_long(words: Counter[str]) -> int:
    """Drop the words of more than `LONGEST_LEARNT` letters; how many occurrences went.

    To learn from a word takes time that grows with the square of its length.
    """
    return sum(words.pop(word) for word in [word for word in words if len(word) > LONGEST_LEARNT])


def forget_rare(words: Counter[str], room: int) -> int:
    """Bring `words` down to at most `room`, the rarest first, all of one count together; how many occurrences went."""
    before, least = words.total(), 1
    while len(words) > room:
        for word in [word for word, often in words.items() if often <= least]:
            del words[word]
        least += 1
    return before - words.total()
