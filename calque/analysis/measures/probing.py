"""Probe what two languages share at a step of pretraining. Every number has a null distribution: its values
after shuffling within groups that share a property unrelated to meaning, such as sentence length. Shapes: N
items (sentences, words or types), H hidden, S shuffles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from calque.analysis.aligners import open_encoder, sentence_means, states_by_row
from calque.analysis.measures.alignment import Types, nearest, tables_of
from calque.analysis.records.record import (
    ALIGNMENT,
    LINEAR,
    RETRIEVAL,
    MeasuredModel,
    Measurement,
    Null,
    Record,
)
from calque.analysis.tasks.task import Reader, Task
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages, held_out
from calque.derive.task_data import TaskFolder
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.config import out_of_range
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import state_of
from calque.pretrain.run import restore

MOST_SHUFFLES = 10_000  # each shuffle is stored as a permutation of a probe's items
ALIKE = 5  # minimum group size; shuffling smaller groups often leaves items in place
LIKE_FREQUENT = 10  # number of similarly frequent types in a group
Shuffle = Callable[[Sequence[Hashable]], np.ndarray]  # `shuffled` with a given number of shuffles


@dataclass(frozen=True)
class ProbeConfig:
    """The numbers of parallel sentences, of tagged sentences to train and test on, and of shuffles."""

    sentences: int = 400
    tagged: int = 300
    tested: int = 400
    shuffles: int = 200
    former_fields: ClassVar[Mapping[str, Any]] = {"seed": 0}

    def mistakes(self) -> list[str]:
        wrong = out_of_range(self, sentences=20, tagged=20, tested=20, shuffles=40)
        if self.shuffles > MOST_SHUFFLES:
            wrong.append(f"shuffles must be at most {MOST_SHUFFLES:,}, not {self.shuffles:,}")
        return wrong


def growth(
    model: MeasuredModel, probes: Probes, snapshots: Mapping[int, Path], progress: Callable[[int, int], None]
) -> Measurement:
    """Run all probes on each snapshot, by step."""
    network, records = open_encoder(model.checkpoint, model.device, with_head=True), list[Record]()
    for done, (step, path) in enumerate(snapshots.items(), start=1):
        restore(state_of(network), path)
        records += probes(network, replace(model, step=step))
        progress(done, len(snapshots))
    return Measurement(tuple(records))


class Probes:
    """Runs all probes on the last `share` of two languages' text, in rows of `length`, and examples."""

    def __init__(
        self,
        languages: Languages,
        share: float,
        length: int,
        task: Task,
        examples: TaskFolder,
        config: ProbeConfig,
    ) -> None:
        (self.language,) = languages.others
        self.task, self.shuffled = task.name, partial(shuffled, shuffles=config.shuffles)
        self.numbers = [languages[name].number for name in (SOURCE, self.language)]
        self.types = Types.open(languages.folder, self.language)
        self.train, self.test = _tagged_sets(languages, examples, task, length, config)
        self.pairs = _pairs(held_out(languages, share, last=True), length, config.sentences)
        self.pairings = self.shuffled([(len(a), len(b)) for a, b in zip(*self.pairs, strict=True)])

    def __call__(self, network: Any, model: MeasuredModel) -> list[Record]:
        model, probes = replace(model, language=self.language), (self._types, self._sentences, self._words)
        return list(chain.from_iterable(probe(network, model) for probe in probes))

    def _types(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        types = self.types
        if not types.measurable:
            return
        forward = nearest(*types.rows_of(*tables_of(network)))
        hits = forward == np.arange(len(forward))
        shuffled_hits = forward == self.shuffled(like_frequent(types.counts[types.types]))
        for metric, kind in (("all", types.moved), ("held-out", types.moved & ~types.in_dictionary)):
            if count := int(kind.sum()):
                band = null(shuffled_hits[:, kind].mean(1), 1 / len(forward))
                yield model.record(ALIGNMENT, metric, float(hits[kind].mean()), count, null=band)

    def _sentences(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        means = map(partial(sentence_means, network), self.pairs, self.numbers)
        for layer, (source, target) in enumerate(zip(*means, strict=True)):
            both, count = (nearest(source, target), nearest(target, source)), len(source)
            hits = mutually_nearest(*both, np.arange(count))
            band = null(mutually_nearest(*both, self.pairings).mean(1), 1 / (2 * count - 1))
            yield model.record(RETRIEVAL, "mexa", float(hits.mean()), count, layer=layer, null=band)

    def _words(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """Compare accuracy with tags of random similar places or types, whichever range is wider."""
        train, test = self.train, self.test
        probe = linear_probe(train.vectors(network, self.numbers[0]), train.labels)
        predicted = probe(test.vectors(network, self.numbers[1]))
        chance = float((test.labels == np.bincount(train.labels).argmax()).mean())
        types = np.array([test.rows[row][place] for row, place in test.places])
        nulls = [
            null((predicted == test.labels[self.shuffled(test.kinds)]).mean(1), chance),
            null(exchanged_accuracies(predicted, test.labels, types, self.shuffled), chance),
        ]
        low, high = min(band.low for band in nulls), max(band.high for band in nulls)
        about = {"task": self.task, "null": replace(nulls[0], low=low, high=high)}
        correct = float((predicted == test.labels).mean())
        yield model.record(LINEAR, "accuracy", correct, len(predicted), **about)


@dataclass(frozen=True)
class TaggedWords:
    """Rows of ids, and each labelled word's row and position, `places` (N, 2), and label index, (N,)."""

    rows: list[np.ndarray]
    places: np.ndarray
    labels: np.ndarray

    @property
    def kinds(self) -> list[Hashable]:
        """Return each word's position and row length, which could reveal its label."""
        return [(place, len(self.rows[row])) for row, place in self.places.tolist()]

    def vectors(self, model: Any, language: int) -> Tensor:
        """Return the words' states (N, H) after the last layer."""
        last = {row: layers[-1] for row, layers in states_by_row(model, self.rows, language)}
        return torch.stack([last[row][place] for row, place in self.places.tolist()])


def _tagged_sets(
    languages: Languages, examples: TaskFolder, task: Task, length: int, config: ProbeConfig
) -> tuple[TaggedWords, TaggedWords]:
    """Return the tagged words for training, in the source, and for testing, in the derived language."""
    (derived,) = languages.others
    train = list(islice(examples.examples("train"), config.tagged))
    source, test = (
        list(islice(examples.examples("test", name), config.tested)) for name in (SOURCE, derived)
    )
    labels, sets = task.labels(map(task.gold, chain(train, source, test))), list[TaggedWords]()
    for name, chosen in ((SOURCE, train), (derived, test)):
        reader = Reader.of(languages, name)
        rows = [row for example in chosen for row in task.rows(example, labels, reader, length)[0]]
        places = [(i, j) for i, row in enumerate(rows) for j in np.flatnonzero(row.targets != UNLABELLED)]
        of_words = np.array([rows[i].targets[j] for i, j in places], np.int64)
        sets.append(TaggedWords([row.ids.astype(np.int64) for row in rows], np.array(places), of_words))
    kept = in_company(sets[1].kinds, "tagged words to test a probe", "probe.tested")
    return sets[0], replace(sets[1], places=sets[1].places[kept], labels=sets[1].labels[kept])


def _pairs(languages: Languages, length: int, limit: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    start, end = languages.specials.start, languages.specials.end
    bitext = languages.bitext(SOURCE, *languages.others)
    distinct: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    for first, second in map(bitext.ids, range(len(bitext))):
        if len(distinct) < limit and max(len(first), len(second)) <= length - 2:
            distinct.setdefault(first.tobytes(), (first, second))
    pairs = list(distinct.values())
    lengths = [(len(first), len(second)) for first, second in pairs]
    chosen = in_company(lengths, "parallel sentences are held out", "mixture.held_out")
    sources, targets = ([np.concatenate([[start], pairs[i][side], [end]]) for i in chosen] for side in (0, 1))
    return sources, targets


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Return each type's group of LIKE_FREQUENT similarly frequent types; the last group may be larger."""
    rank, last = np.argsort(np.argsort(-counts, kind="stable")), max(len(counts) // LIKE_FREQUENT - 1, 0)
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, last).tolist()
    return groups


def in_company(kinds: Sequence[Hashable], what: str, setting: str) -> list[int]:
    """Return the indices of the items whose kind occurs at least ALIKE times. Raises BadInput without any."""
    counts = Counter(kinds)
    indices = [place for place, kind in enumerate(kinds) if counts[kind] >= ALIKE]
    if not indices:
        raise BadInput(f"too few {what}: {len(kinds)} (increase {setting})")
    return indices


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int = 0) -> np.ndarray:
    """Return random permutations (S, N) of the items within each kind."""
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    kind_of = np.array([numbers[kind] for kind in kinds], np.int64)
    by_kind, random = np.argsort(kind_of, kind="stable"), np.random.default_rng(seed)
    permutations = np.empty((shuffles, len(kind_of)), np.int64)
    for permutation in permutations:
        order = np.lexsort((random.random(len(kind_of)), kind_of[by_kind]))
        permutation[by_kind] = by_kind[order]
    return permutations


def null(values: np.ndarray, chance: float) -> Null:
    """Summarise the values (S,) obtained by shuffling by their 2.5th and 97.5th percentiles."""
    # Shares of few items are coarse, so percentiles are not interpolated.
    low = float(np.percentile(values, 2.5, method="lower"))
    return Null(chance, low, float(np.percentile(values, 97.5, method="higher")), len(values))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffle: Shuffle
) -> np.ndarray:
    """Return the accuracies (S,) of labels (N,) if types (N,) exchange gold labels at similar frequency."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predictions, shares = (np.zeros((len(counts), width)) for _ in range(2))  # by type and label
    np.add.at(predictions, (type_of, predicted), 1)
    np.add.at(shares, (type_of, labels), 1 / counts[type_of])
    exchanges = shuffle(like_frequent(counts))
    return np.array([(predictions * shares[exchange]).sum() for exchange in exchanges]) / len(predicted)


def mutually_nearest(forward: np.ndarray, backward: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each row and its partner, `pairing` (..., N), are nearest to each other, given the
    indices of nearest rows (N,) (MEXA, Kargaran et al. 2024, equation 1)."""
    return (forward == pairing) & (backward[pairing] == np.arange(len(forward)))


def linear_probe(vectors: Tensor, labels: np.ndarray, ridge: float = 1.0) -> Callable[[Tensor], np.ndarray]:
    """Fit a ridge regression on standardised vectors (N, H); return a function that predicts labels (M,)."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    probe = make_pipeline(StandardScaler(), RidgeClassifier(ridge))
    probe.fit(vectors.double().cpu().numpy(), labels)
    return lambda new_vectors: np.asarray(probe.predict(new_vectors.double().cpu().numpy()))
