"""alignment@1: the fraction of types whose most similar row of the other language is their translation.

Shapes: V source vocabulary, n types that occur, H width.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from analysis.measures.nearest import nearest
from analysis.measures.permutation import like_frequent, null, shuffled
from analysis.records.record import ALIGNMENT, Null, Record
from derive.derived_folder import SOURCE
from derive.errors import BadInput
from derive.languages import Languages
from pretrain.architecture import ARCHITECTURES, ROBERTA, architecture_of, has_languages
from pretrain.metrics import read_metrics


@dataclass(frozen=True)
class Alignment:
    """Which types found their image, and what is to be known of each: columns of m moved types.

    `candidates` is the number of rows among which each was sought, so chance is 1 / candidates.
    """

    forward: np.ndarray
    back: np.ndarray
    in_dictionary: np.ndarray
    counts: np.ndarray
    candidates: int

    @property
    def shares(self) -> dict[str, tuple[float, int]]:
        """Share found and number of types, by metric; a metric over no types at all is left out."""
        held_out = ~self.in_dictionary
        hits = {
            "all": self.forward,
            "dictionary": self.forward[self.in_dictionary],
            "held-out": self.forward[held_out],
            "back": self.back,
            "back-held-out": self.back[held_out],
        }
        shares = {metric: (float(column.mean()), len(column)) for metric, column in hits.items() if len(column)}
        if self.counts.sum():
            shares["frequency-weighted"] = (float(np.average(self.forward, weights=self.counts)), len(self.counts))
        return shares

    def records(self, run: str, language: str, step: int, first: str = "") -> list[Record]:
        """The shares as records of one run, of the pair of `first` (empty: the source) and `language`."""
        return [
            Record(run, ALIGNMENT, metric, value, count, language=language, step=step, first=first)
            for metric, (value, count) in self.shares.items()
        ]


@dataclass(frozen=True)
class Types:
    """The types that alignment@1 is measured over.

    types: (n,) the source ids that are not special and occur in the source corpus.
    image: (V,) the derived id of each source id.
    dictionary: (d, 2) pairs (source id, derived id).
    counts: (V,) occurrences in the source corpus.
    own: (V,) the id of each source id in the language that is asked from; None where that is the source.
    numbers: the token types of both languages.
    rows: rows of the model's table; 0: those of a model of two languages with a script each.
    """

    types: np.ndarray
    image: np.ndarray
    dictionary: np.ndarray
    counts: np.ndarray
    own: np.ndarray | None = None
    numbers: tuple[int, int] = (0, 1)
    rows: int = 0

    @classmethod
    def open(cls, data: Path, language: str) -> Types:
        """Those of one derived language of a study's data folder.

        Raises:
            BadInput: there is no such language, or something of it is missing or damaged.
        """
        languages = Languages.open(data, [language])
        vocabulary = languages.vocabulary
        pairs = languages.dictionary(SOURCE, language)
        return cls(vocabulary.types, languages[language].table, pairs, vocabulary.counts)

    @classmethod
    def between(cls, languages: Languages, first: str, second: str) -> Types:
        """Those of an ordered pair of a model's languages: types of the first are sought among the second's.

        The types of the dictionary are those with an entry in any that the model is told and that has either language:
        what both owe to the source is not held out.

        Raises:
            BadInput: something of them is missing or damaged.
        """
        vocabulary, a, b = languages.vocabulary, languages[first], languages[second]
        known = [_told(languages, pair) for pair in languages.dictionaries if {first, second} & {*pair}]
        types = np.unique(np.concatenate([np.empty(0, np.int64), *known]))
        told = np.stack([types, b.table[types]], axis=1)
        numbers = a.number, b.number
        return cls(vocabulary.types, b.table, told, vocabulary.counts, a.table, numbers, languages.rows)

    @property
    def asks(self) -> bool:
        """Whether any type changes its id: where the script stays, alignment@1 is not defined, and is not recorded."""
        return bool(self.moved.any())

    @property
    def moved(self) -> np.ndarray:
        """Which of the types have another id in the language that is asked, (n,) bool."""
        own = self.types if self.own is None else self.own[self.types]
        return np.asarray(self.image[self.types] != own)

    def rows_of(self, table: Tensor, languages: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The embeddings of the types in either language, (n, H) float32 each, new; arguments as `alignment` has."""
        own = self.types if self.own is None else self.own[self.types]
        rows = table.detach()
        source, derived = rows[torch.from_numpy(own)].float(), rows[torch.from_numpy(self.image[self.types])].float()
        if languages is not None:
            source += languages[self.numbers[0]].detach()
            derived += languages[self.numbers[1]].detach()
        return source, derived

    def alignment(self, table: Tensor, languages: Tensor | None = None) -> Alignment:
        """alignment@1 of a table of word embeddings (ALIGN-MLM, section 5, after Deshpande et al. 2021).

        The candidates of a source type are the images of all types; of a derived one, all types. A type that is
        its own image (shared vocabulary) stays a candidate but is not asked for: it would find itself.

        Args:
            table: (2V, H) rows or more, the source's first; left as it is.
            languages: (2, H) or more rows, the languages' embeddings, added to the words' where a model has them, as
                the published numbers do.

        Raises:
            ValueError: no type has an image other than itself, or a row is not finite.
        """
        moved = self.moved
        if not moved.any():
            raise ValueError("no type changes its id between the two languages: there is no alignment to measure")
        forward, back = mutual_nearest(*self.rows_of(table, languages))
        asked = self.types[moved]
        in_dictionary = np.isin(asked, self.dictionary[:, 0])
        return Alignment(forward[moved], back[moved], in_dictionary, self.counts[asked], len(self.types))


def mutual_nearest(
    source: Tensor, derived: Tensor, block: int = 512, width: int = 2048
) -> tuple[np.ndarray, np.ndarray]:
    """For each i, whether derived row i is the most cosine-similar to source row i, and the other way round.

    A tie is no find: the row must be more similar than every other, so a collapsed table scores 0, whatever
    the order of its rows. Both answers come from one pass over tiles of `block` x `width` products, which stay in the
    processor's cache; the (n, n) matrix is never formed.

    Args:
        source, derived: (n, H) float32, on one device. They are normalised in place.

    Returns:
        Two (n,) bool columns, forward and back.

    Raises:
        ValueError: a row is not finite.
    """
    n = len(source)
    for rows in (source, derived):
        rows /= torch.linalg.vector_norm(rows, dim=1, keepdim=True).clamp_min_(1e-12)
        if not torch.isfinite(rows).all():
            raise ValueError("a row of the embedding table is not finite")
    own = source.new_empty(n)
    best_forward, best_back = source.new_full((n,), -torch.inf), source.new_full((n,), -torch.inf)
    buffer = source.new_empty(min(block, n), min(width, n))
    for left in range(0, n, width):
        keys = derived[left : left + width].T
        columns = best_back[left : left + width]
        for top in range(0, n, block):
            queries = source[top : top + block]
            tile = torch.matmul(queries, keys, out=buffer[: len(queries), : keys.shape[1]])
            # A row's own image: read from the very products that it competes with, then taken out of the contest.
            images = tile.diagonal(top - left)
            own[max(top, left) : max(top, left) + len(images)] = images
            images.fill_(-torch.inf)
            best = best_forward[top : top + block]
            torch.maximum(best, tile.amax(1), out=best)
            torch.maximum(columns, tile.amax(0), out=columns)
    return (own > best_forward).cpu().numpy(), (own > best_back).cpu().numpy()


def alignment_nulls(model: Any, types: Types, shuffles: int, seed: int) -> dict[str, Null]:
    """The null of the shares `all`, `dictionary` and `held-out` of `alignment_of_model`.

    Types are paired at random with one of those that are nearest in frequency: rows that have learnt
    nothing but how frequent their types are would leave a null of any pairs.
    """
    table, token_types = architecture_of(model.config).tables(model)
    forward = nearest(*types.rows_of(table, of_languages(token_types)))
    moved, known = types.moved, np.isin(types.types, types.dictionary[:, 0])
    pairings = shuffled(like_frequent(types.counts[types.types]), shuffles, seed)
    asked = {"all": moved, "dictionary": moved & known, "held-out": moved & ~known}
    hits = forward == pairings
    return {name: null(hits[:, of].mean(1), 1 / len(forward)) for name, of in asked.items() if of.any()}


def alignment_of_model(model: Any, types: Types) -> Alignment:
    """alignment@1 of a model in memory; its weights are left as they are."""
    table, token_types = architecture_of(model.config).tables(model)
    return types.alignment(table, of_languages(token_types))


def alignment_of_checkpoint(checkpoint: Path, types: Types) -> Alignment:
    """alignment@1 of the checkpoint in a folder; only its embeddings are read.

    Raises:
        BadInput: there are no weights, they cannot be read, lack the embeddings, or are of another vocabulary.
    """
    return alignments_of_checkpoint(checkpoint, [types])[0]


def alignments_of_checkpoint(checkpoint: Path, asked: Sequence[Types]) -> list[Alignment]:
    """alignment@1 of the checkpoint in a folder for several pairs of languages; its embeddings are read once.

    Raises:
        BadInput: as `alignment_of_checkpoint`.
    """
    path = checkpoint / "model.safetensors"
    try:
        with safe_open(path, framework="pt") as weights:
            names = set(weights.keys())
            spelt = next(
                (architecture for architecture in ARCHITECTURES.values() if architecture.word_embeddings in names),
                ROBERTA,
            )
            table, languages = (weights.get_tensor(n) for n in (spelt.word_embeddings, spelt.language_embeddings))
    except (OSError, SafetensorError) as error:
        raise BadInput(f"expected the weights of a masked language model: {error}", path) from None
    for types in asked:
        if types.rows and len(table) != types.rows:
            raise BadInput(f"{len(table)} word embeddings for languages of {types.rows} together", path)
        if not types.rows and len(table) != 2 * len(types.image):
            raise BadInput(f"{len(table)} word embeddings for two languages of {len(types.image)} types", path)
    try:
        return [types.alignment(table, of_languages(languages)) for types in asked]
    except ValueError as error:
        raise BadInput(str(error), path) from None


def of_languages(token_types: Tensor) -> Tensor | None:
    """Without language embeddings all rows have the same token type: it is added to each and says nothing."""
    return token_types if has_languages(len(token_types)) else None


def _told(languages: Languages, pair: tuple[str, str]) -> np.ndarray:
    """The source types of a dictionary's entries."""
    table = languages[pair[0]].table
    source_types = np.full(languages.rows, -1)
    source_types[table] = np.arange(len(table))
    return source_types[languages.dictionary(*pair)[:, 0]]


def growth(metrics: Path, final: list[Record], before: int = 0) -> list[Record]:
    """The alignment records of a run's earlier steps, from the probes in its metrics.jsonl.

    `final` are the run's alignment records after its last step; they say what each share is over. `before` are the
    steps of the model that the run began with.

    Raises:
        BadInput: a row cannot be read.
    """
    last = {record.metric: record for record in final if record.measure == ALIGNMENT}
    return [
        dataclasses.replace(last[metric], value=value, step=before + row["step"])
        for row in read_metrics(metrics)
        if "probe" in row
        for metric, value in row["probe"].items()
        if metric in last and before + row["step"] < last[metric].step
    ]
