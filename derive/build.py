"""The derived study on disk: corpora, vocabulary, dictionaries, task data, preview and manifest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from derive.corpus import Corpus, CorpusWriter
from derive.dictionary import DictionaryConfig, draw_dictionary, write_dictionary
from derive.encode import Account, CountWords, EncodeChunk, call
from derive.errors import BadInput
from derive.example import SENTENCES, Example, write_examples
from derive.files import MANIFEST, fingerprint, sha256, whole_folder, write_json
from derive.order import order_distance
from derive.preview import preview
from derive.sentence import Sentence
from derive.source import Source, TaskData
from derive.transform import Transform
from derive.types import FIRST
from derive.vocabulary import SMALLEST, Vocabulary
from derive.workers import Workers

FORMAT = 1
"""Goes up when the same config would give other files."""
SOURCE, VOCABULARY, TASKS = "source", "vocabulary", "tasks"
"""The folders beside those that are named after the transforms."""
DISTINCT = 1 << 19
"""Distinct words that a vocabulary is learnt from at most: there is no end to them in a growing corpus."""
MEASURED = 10_000
"""Sentences over which the order distance is measured."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many steps are behind, and how many there are."""


def silent(stage: str, done: int, total: int) -> None:
    """Show no progress."""


def study_fingerprint(
    source: Callable[[bool], str], transforms: Sequence[Transform], vocabulary_size: int, dictionary: DictionaryConfig
) -> str:
    """Twelve hexadecimal digits that change whenever the study's files would; `source` is `Source.fingerprint`.

    That of one transform alone is its language's: other languages beside it change nothing in it.
    """
    with_trees = any(transform.needs_trees for transform in transforms)
    return fingerprint(
        FORMAT, source(with_trees), [transform.identity() for transform in transforms], vocabulary_size, dictionary
    )


def derive_study(
    source: Source,
    transforms: Sequence[Transform],
    vocabulary_size: int,
    dictionary: DictionaryConfig,
    folder: Path,
    cache: Path,
    workers: int = 1,
    progress: Progress = silent,
) -> Path:
    """Derive a language by each transform and write everything that runs on them read.

    Files do not depend on the number of workers. `folder` is whole or absent: it is filled beside its
    place, the manifest last, and moved there at the end. Memory does not grow with the corpus. What took long to
    make and other studies may need too (grammars, trees) is kept in the folder `cache`.

    Returns:
        `folder`.

    Raises:
        BadInput: unusable text or task data, transforms that do not fit together, a vocabulary too large.
    """
    _check(transforms)
    fingerprints = lru_cache(source.fingerprint)
    if any(transform.needs_trees for transform in transforms):
        source = source.with_trees(cache)
    ready = _learn(transforms, cache, progress)
    with whole_folder(folder) as part, Workers(workers) as pool:
        study = _Study(source, tuple(transforms), ready, part, cache, pool, progress)
        vocabulary = study.train_vocabulary(vocabulary_size)
        report = study.write_corpora(vocabulary)
        for transform in transforms:
            image = transform.image(vocabulary.size)
            pairs = draw_dictionary(dictionary, vocabulary.types, vocabulary.counts, image)
            np.save(part / transform.name / "image.npy", image)
            write_dictionary(part / transform.name / "dictionary.tsv", pairs, vocabulary)
            report.languages[transform.name] |= {
                "dictionary pairs": len(pairs),
                "fingerprint": study_fingerprint(fingerprints, [transform], vocabulary_size, dictionary),
            }
        tasks = study.write_tasks(report)
        (part / "preview.txt").write_text(preview(report.shown, tasks, ready), encoding="utf-8", newline="\n")
        unseen = vocabulary.size - FIRST - len(vocabulary.types)
        manifest = {
            "format": FORMAT,
            "fingerprint": study_fingerprint(fingerprints, transforms, vocabulary_size, dictionary),
            "config": {"source": source, "transforms": list(transforms), "dictionary": dictionary},
            "vocabulary": {
                "size": vocabulary.size,
                "types": len(vocabulary.types),
                "unseen types": unseen,
                "rare words not trained on": study.forgotten,
            },
            "languages": report.languages,
            "tasks": report.tasks,
            "files": {str(p.relative_to(part)): sha256(p) for p in sorted(part.rglob("*")) if p.is_file()},
        }
        write_json(part / MANIFEST, manifest)
    return folder


def _check(transforms: Sequence[Transform]) -> None:
    """Find what is wrong with transforms before the text is read: names that no folders can have, two scripts."""
    names, others = [transform.name for transform in transforms], (SOURCE, VOCABULARY, TASKS)
    if len({*others, *names}) < len(others) + len(names):
        raise BadInput(
            f"the transforms {', '.join(names)} must have different names, none of them {' or '.join(others)}"
        )
    for transform in transforms:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", transform.name):
            raise BadInput(
                f"the transform's name {transform.name!r}; expected letters, digits, dashes, dots and underscores"
            )
        try:
            transform.image(SMALLEST)
        except ValueError as error:
            raise BadInput(f"the transform {transform.name}: {error}") from error


def _learn(transforms: Sequence[Transform], cache: Path, progress: Progress) -> tuple[Transform, ...]:
    ready = []
    of = sum(transform.needs_trees for transform in transforms)
    for transform in transforms:
        ready.append(transform.ready(cache))
        if transform.needs_trees:
            progress("learning word orders", sum(one.needs_trees for one in ready), of)
    return tuple(ready)


@dataclass
class _Report:
    """What the manifest says about the languages and the tasks, and the preview's sentences."""

    languages: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    shown: list[tuple[int, Sentence]] = field(default_factory=list)


@dataclass
class _Study:
    """The steps of `derive_study`, which fill the folder `part`. `ready` are the transforms, with what they learnt."""

    source: Source
    transforms: tuple[Transform, ...]
    ready: tuple[Transform, ...]
    part: Path
    cache: Path
    pool: Workers
    progress: Progress

    def __post_init__(self) -> None:
        self.chunks = list(self.source.chunks())
        self.forgotten = 0

    def train_vocabulary(self, size: int) -> Vocabulary:
        words: Counter[str] = Counter()
        for counted in self._map("counting words", (CountWords(self.source, chunk) for chunk in self.chunks)):
            words.update(counted)
            self.forgotten += forget_rare(words, DISTINCT)
        self.progress("training the vocabulary", 0, 1)
        vocabulary = Vocabulary.of_words(words, size)
        vocabulary.save(self.part / VOCABULARY)
        self.progress("training the vocabulary", 1, 1)
        return vocabulary

    def write_corpora(self, vocabulary: Vocabulary) -> _Report:
        folder = self.part / VOCABULARY
        digest = sha256(folder / "tokenizer.json")
        names = [SOURCE, *(transform.name for transform in self.transforms)]
        counts = np.zeros(vocabulary.size, dtype=np.int64)
        left_out: Counter[str] = Counter()
        accounts = [Account() for _ in names]
        report = _Report()
        with ExitStack() as stack:
            writers = [stack.enter_context(CorpusWriter(self.part / name, 2 * vocabulary.size)) for name in names]
            jobs = (
                EncodeChunk(self.source, self.transforms, self.cache, folder, digest, index, chunk)
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
                report.shown += encoded.shown
        vocabulary.counts = counts
        vocabulary.save(folder)
        accounts[0].left_out = left_out
        for name, writer, account in zip(names, writers, accounts, strict=True):
            corpus = Corpus.open(self.part / name)
            measured = (corpus.order(line).tolist() for line in range(min(MEASURED, len(corpus))))
            empty = left_out["empty sentences"] if name == SOURCE else 0
            report.languages[name] = {
                "in": {"sentences": writers[0].sentences + empty, "words": writers[0].words},
                "out": {"sentences": writer.sentences, "words": writer.words, "tokens": writer.tokens},
                "left out": dict(sorted(account.left_out.items())),
                "kept in place": dict(sorted(account.kept.items())),
                "spans split": account.split_spans,
                "order distance": order_distance(measured),
            }
        return report

    def write_tasks(self, report: _Report) -> dict[str, TaskData]:
        self.progress("task data", 0, 1)
        tasks = self.source.tasks()
        for task, data in tasks.items():
            folder = self.part / TASKS / task
            folder.mkdir(parents=True)
            report.tasks[task] = {}
            for split, examples in data.examples.items():
                write_examples(folder / f"{split}.jsonl", examples)
                # An example's number, from which random transforms draw, is its place in the split.
                row = _counts(examples) | {"left out": dict(data.left_out.get(split, {})), "spans split": {}}
                row |= {"kept in place": {}, "examples without an image": {}}
                for transform in self.ready:
                    account = Account()
                    images = [_derive(example, transform, number, account) for number, example in enumerate(examples)]
                    whole = [image for image in images if image]
                    write_examples(folder / f"{split}.{transform.name}.jsonl", whole)
                    row["spans split"][transform.name] = account.split_spans
                    row["kept in place"][transform.name] = dict(sorted(account.kept.items()))
                    row["examples without an image"][transform.name] = len(images) - len(whole)
                report.tasks[task][split] = row
        self.progress("task data", 1, 1)
        return tasks

    def _map(self, stage: str, jobs: Iterable[CountWords | EncodeChunk]) -> Iterator[Any]:
        self.progress(stage, 0, len(self.chunks))
        for done, result in enumerate(self.pool.map(call, jobs), start=1):
            yield result
            self.progress(stage, done, len(self.chunks))


def forget_rare(words: Counter[str], room: int) -> int:
    """Bring `words` down to at most `room`, the rarest first, all of one count together; how many occurrences went."""
    before, least = words.total(), 1
    while len(words) > room:
        for word in [word for word, often in words.items() if often <= least]:
            del words[word]
        least += 1
    return before - words.total()


def _derive(example: Example, transform: Transform, number: int, account: Account) -> Example | None:
    """The example's image; None where one of its sentences has none."""
    numbered = list(enumerate((sentence for text in example.texts for sentence in text), start=number * SENTENCES))
    if any(transform.leaves_out(sentence, own) for own, sentence in numbered):
        return None
    image = example.derive(transform, number)
    account.kept.update(sum((transform.account(sentence, own) for own, sentence in numbered), Counter()))
    account.split_spans += _counts([image])["spans"] - _counts([example])["spans"]
    return image


def _counts(examples: Sequence[Example]) -> dict[str, Any]:
    sentences = [sentence for example in examples for text in example.texts for sentence in text]
    return {
        "examples": len(examples),
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "spans": sum(len(sentence.spans) for sentence in sentences),
    }
