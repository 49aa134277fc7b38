"""Measure sentence retrieval. Shapes: N sentences and N translations, L layers and embeddings, H hidden."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from calque.analysis.aligners import open_encoder, sentence_means
from calque.analysis.measures.alignment import cosine
from calque.analysis.measures.interventions import NOTHING, Rows, other_rows
from calque.analysis.records.record import AFTER, RETRIEVAL, Items, MeasuredModel, Measurement, Record
from calque.analysis.tasks.task import Reader
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.derive.sentence import Sentence
from calque.derive.source import SPLITS
from calque.derive.task_data import TaskFolder
from calque.derive.vocabulary import Vocabulary, open_vocabulary
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import row_length


def retrieval(
    model: MeasuredModel, sentences: Mapping[str, Sequence[Sequence[str]]], main_layer: int
) -> Measurement:
    """Measure retrieval for every pair of languages, at every layer and in both directions. The sentences are
    the same in all languages, and are given as words."""
    if len({len(lines) for lines in sentences.values()}) > 1:
        sizes = ", ".join(f"{name} has {len(lines):,}" for name, lines in sentences.items())
        raise BadInput(f"the languages do not have the same sentences: {sizes}")
    lines_of_all = list(zip(*sentences.values(), strict=True))
    complete = list(filter(all, lines_of_all))
    exclusions = Counter({"sentences that a language lacks": len(lines_of_all) - len(complete)})
    if len(complete) < 2:
        raise BadInput(f"retrieval needs at least 2 sentences in every language, not {len(complete)}")
    encoder = open_encoder(model.checkpoint, model.device)
    vocabulary, vectors = open_vocabulary(model.checkpoint), dict[str, Tensor]()
    for name, lines in zip(sentences, zip(*complete, strict=True), strict=True):
        vectors[name] = sentence_vectors(encoder, vocabulary, lines, exclusions)
    return Measurement(tuple(_records(model, vectors, main_layer)), +exclusions)


def sentence_vectors(
    encoder: Any, vocabulary: Vocabulary, sentences: Sequence[Sequence[str]], exclusions: Counter[str]
) -> Tensor:
    """Return the mean state (L, N, H) of each sentence's sub-words at every layer."""
    rows, length, specials = list[list[int]](), row_length(encoder.config), vocabulary.specials
    for words in sentences:
        ids = vocabulary.encode_words(words)[0].tolist()
        if beyond := len(ids[length - 2 :]):
            exclusions[f"sub-words beyond the {length:,} ids that the model takes"] += beyond
        rows.append([specials.start, *ids[: length - 2], specials.end])
    return sentence_means(encoder, rows)


def derivation_retrieval(
    model: MeasuredModel,
    languages: Languages,
    examples: TaskFolder,
    limit: int,
    tags: np.ndarray | None = None,
) -> Measurement:
    """Measure retrieval between up to `limit` distinct sentences and their derivations, at every layer. Given
    the types' `tags` (V,), measure it at the last layer after each intervention."""
    network, exclusions = open_encoder(model.checkpoint, model.device, with_head=True), Counter[str]()
    (derived,) = languages.others
    rows = _derived_rows(network, languages, examples, limit, exclusions)
    numbers = [languages[name].number for name in (SOURCE, derived)]
    source, image = (sentence_means(network, *side) for side in zip(rows, numbers, strict=True))
    model, last = replace(model, language=derived), len(source) - 1
    if tags is None:
        return Measurement(tuple(_records(model, {SOURCE: source, derived: image}, last)), exclusions)
    moved, records = Rows.of(network, languages, derived, tags, model.seed), list[Record]()
    for name, changed in chain([(NOTHING, moved.derived)], moved.changes()):
        with other_rows(network, moved.ids, changed):
            image = sentence_means(network, rows[1], numbers[1])
        after = _records(model, {SOURCE: source, derived: image}, last)
        records += [replace(record, metric=f"cosine{AFTER}{name}") for record in after if record.items]
    return Measurement(tuple(records), exclusions)


def _derived_rows(
    network: Any, languages: Languages, examples: TaskFolder, limit: int, exclusions: Counter[str]
) -> list[list[list[int]]]:
    """Return the rows of up to `limit` sentences, and those of their derivations."""
    (derived,), specials, room = languages.others, languages.specials, row_length(network.config)
    readers = [Reader.of(languages, name) for name in (SOURCE, derived)]
    pairs = list[list[list[int]]]()
    for pair in _derivations(examples, derived):
        ids = [reader.read([text]).ids.tolist() for reader, text in zip(readers, pair, strict=True)]
        if max(map(len, ids)) + 2 > room:
            exclusions["sentences that do not fit into a row"] += 1
        elif len(pairs) < limit:
            pairs.append([[specials.start, *side, specials.end] for side in ids])
    if len(pairs) < 2:
        what = f"retrieval needs at least 2 sentences that fit into a row, not {len(pairs)}"
        raise BadInput(what, examples.artefact.folder)
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def _derivations(examples: TaskFolder, language: str) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield each distinct sentence with its derivation, starting from the test set."""
    seen = set[tuple[str, ...]]()
    for split in reversed(SPLITS):
        for first, second in zip(examples.examples(split), examples.examples(split, language), strict=True):
            for source, derived in zip(first.sentences, second.sentences, strict=True):
                if source.words and source.words not in seen:
                    seen.add(source.words)
                    yield source, derived


def _records(model: MeasuredModel, vectors: Mapping[str, Tensor], main_layer: int) -> Iterator[Record]:
    for first, second in combinations(vectors, 2):
        for layer, (source, target) in enumerate(zip(vectors[first], vectors[second], strict=True)):
            scores = cosine(source, target)
            for query, language, table in ((first, second, scores), (second, first, scores.T)):
                hits = found(table)
                items = Items.over(hits, [1] * len(hits)) if layer == main_layer else None
                about = {"layer": layer, "language": language, "first": "" if query == SOURCE else query}
                yield model.record(RETRIEVAL, "cosine", float(hits.mean()), len(hits), items=items, **about)


def found(scores: Tensor) -> np.ndarray:
    """Return which rows of `scores` (N, N) have a unique maximum on the diagonal."""
    others = scores.clone().fill_diagonal_(-torch.inf)
    return (scores.diagonal() > others.amax(1)).cpu().numpy()
