"""Measure the alignment of types by their embeddings (alignment@1, the share of types whose nearest neighbour
in the other language is their translation), and of sentences by their states (retrieval). Shapes: V source
types, n types that occur in the corpus, m of them with different ids in the two languages, N sentences and
their translations, L layers and embeddings, H width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.aligners import open_encoder, sentence_means
from calque.analysis.measures.interventions import Rows, other_rows
from calque.analysis.records.record import (
    AFTER,
    ALIGNMENT,
    RETRIEVAL,
    ROTATED,
    SHUFFLED,
    Items,
    MeasuredModel,
    Measurement,
    Record,
)
from calque.analysis.tasks.task import Reader
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.derive.sentence import Sentence
from calque.derive.source import SPLITS
from calque.derive.task_data import TaskFolder
from calque.derive.vocabulary import Vocabulary, open_vocabulary
from calque.pretrain.lazy import F, Tensor, inference_mode, torch
from calque.pretrain.model import has_languages, row_length, token_types_of
from calque.pretrain.objectives.dictionary import procrustes
from calque.pretrain.run import read_metrics
from calque.pretrain.saved_model import load_model

HITS = "hits"  # the key for all types' hits in a run's metrics
NONE = -1  # replaces the nearest row's index in case of a tie
BLOCK = 512
Hits = Mapping[str, np.ndarray]
"""For each metric, whether each of its types has its translation as its nearest neighbour."""


@dataclass(frozen=True)
class Types:
    """The types over which alignment@1 is measured."""

    types: np.ndarray  # (n,) ids of non-special types that occur in the source corpus
    image: np.ndarray  # (V,) each source type's id in the derived language
    dictionary: np.ndarray  # (d,) source ids of the dictionary entries
    counts: np.ndarray  # (V,) counts in the source corpus
    number: int = 1  # the derived language's token type; the source's is 0

    @classmethod
    def open(cls, data: Path, language: str) -> Types:
        """Read a derived language's types from a study's data folder."""
        return cls.of(Languages.open(data, [language]), language)

    @classmethod
    def of(cls, languages: Languages, language: str) -> Types:
        """Return the types whose ids in the source and in a derived language are compared."""
        vocabulary, derived = languages.vocabulary, languages[language]
        dictionary = np.empty(0, np.int64)
        if (SOURCE, language) in languages.dictionaries:
            dictionary = np.unique(languages.dictionary(SOURCE, language)[:, 0])
        types = vocabulary.types[derived.images[vocabulary.types] >= 0]
        return cls(types, derived.images, dictionary, vocabulary.counts, derived.number)

    @property
    def moved(self) -> np.ndarray:
        """Whether each type has different ids in the two languages, (n,)."""
        return np.asarray(self.image[self.types] != self.types)

    @property
    def in_dictionary(self) -> np.ndarray:
        return np.isin(self.types, self.dictionary)

    @property
    def measurable(self) -> bool:
        return bool(self.moved.any())

    def rows_of(self, table: Tensor, languages: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return copies of the types' embeddings in both languages, (n, H) float32 each."""
        sides = torch.from_numpy(self.types), torch.from_numpy(self.image[self.types])
        source, derived = (table.detach()[ids].float() for ids in sides)
        if languages is not None:
            source += languages[0].detach()
            derived += languages[self.number].detach()
        return source, derived

    def by_metric(self, hits: np.ndarray) -> dict[str, np.ndarray]:
        """Group the hits (m,) of all moved types."""
        known = self.in_dictionary[self.moved]
        groups = {"all": hits, "dictionary": hits[known], "held-out": hits[~known]}
        return {metric: group for metric, group in groups.items() if len(group)}

    def alignment(self, table: Tensor, languages: Tensor | None = None, controls: bool = False) -> Hits:
        """Measure alignment@1 in a table of word embeddings, with any language embeddings added (ALIGN-MLM,
        section 5). Held-out types are also measured after a rotation that is fitted on the dictionary, and
        with `controls`, on shuffled pairs. The types must be `measurable`."""
        moved, known, rows = self.moved, self.in_dictionary, self.rows_of(table, languages)

        def hits(first: Tensor, second: Tensor) -> np.ndarray:
            return np.asarray(nearest(first, second) == np.arange(len(moved)))

        found, entries = self.by_metric(hits(*rows)[moved]), np.flatnonzero(moved & known)
        if not len(entries) or known[moved].all():
            return found
        partners = {ROTATED: entries}
        if controls:
            partners[SHUFFLED] = np.random.default_rng(0).permutation(entries)
        source, derived = map(normalised, rows)
        for name, places in partners.items():
            matrix = procrustes(derived[torch.from_numpy(places)], source[torch.from_numpy(entries)])
            found[name] = hits(source, derived @ matrix)[moved & ~known]
        return found


@inference_mode
def nearest(source: Tensor, target: Tensor) -> np.ndarray:
    """Return the index (N,) of the `target` row with the highest cosine to each `source` row (tie: NONE)."""
    source, target = F.normalize(source.float(), dim=1), F.normalize(target.float(), dim=1)
    blocks = []
    for rows in source.split(BLOCK):
        values, indices = (rows @ target.T).topk(min(2, len(target)), dim=1)
        tied = (values[:, 0] == values[:, -1]) & (len(target) > 1)
        blocks.append(indices[:, 0].masked_fill(tied, NONE))
    return torch.cat(blocks).cpu().numpy()


def cosine(source: Tensor, target: Tensor) -> Tensor:
    """Return the cosines (N, M) between rows, (N, H) and (M, H)."""
    return F.normalize(source, dim=1) @ F.normalize(target, dim=1).T


def normalised(rows: Tensor) -> Tensor:
    """Normalise rows (n, H) to unit length, centre them, and normalise them again, as VecMap does."""
    rows = F.normalize(rows, dim=1)
    return F.normalize(rows - rows.mean(0), dim=1)


def alignment_of_model(model: Any, types: Types, controls: bool = False) -> Hits:
    """Measure alignment@1 for a model in memory."""
    return types.alignment(*tables_of(model), controls=controls)


def tables_of(model: Any) -> tuple[Tensor, Tensor | None]:
    """Return a model's word embeddings and, if it has any, its language embeddings."""
    token_types = token_types_of(model)
    return model.get_input_embeddings().weight, token_types if has_languages(len(token_types)) else None


def shares(hits: Hits) -> dict[str, float]:
    """Return the mean of each metric over all types."""
    return {metric: float(column.mean()) for metric, column in hits.items()}


def metrics_row(hits: Hits, any_dictionary: bool) -> dict[str, Any]:
    """Return the shares for a run's metrics; with `any_dictionary`, each type's hits and the share of all."""
    if not any_dictionary:
        return {"probe": shares(hits)}
    return {"probe": shares({"all": hits["all"]}), HITS: [np.packbits(hits["all"]).tobytes().hex()]}


def type_alignment(model: MeasuredModel, types: Types, metrics: Path, before: int = 0) -> Measurement:
    """Measure alignment@1 over pretraining, from the checkpoint and the metrics after `before` steps."""
    if not types.measurable:
        return Measurement()
    hits = alignment_of_model(load_model(model.checkpoint)[0], types, controls=True)
    last = {m: model.record(ALIGNMENT, m, share, len(hits[m])) for m, share in shares(hits).items()}
    earlier = list[Record]()
    for row in read_metrics(metrics):
        step, probe = before + row["step"], row.get("probe", {})
        if HITS in row:
            packed = np.frombuffer(bytes.fromhex(row[HITS][0]), np.uint8)
            probe = shares(types.by_metric(np.unpackbits(packed, count=len(hits["all"])).astype(bool)))
        for metric, value in probe.items():
            if metric in last and step < last[metric].step:
                earlier.append(replace(last[metric], value=value, step=step))
    return Measurement((*earlier, *last.values()))


def retrieval(
    model: MeasuredModel, sentences: Mapping[str, Sequence[Sequence[str]]], main_layer: int
) -> Measurement:
    """Measure retrieval for every pair of languages, layer and direction, of the same sentences, as words."""
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
    for name, changed in moved.changes():
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
