"""Probe what two languages share at a step of pretraining. Every number has a null distribution: its values
after shuffling within groups that share a property unrelated to meaning, such as sentence length. Shapes: N
sentences or words, L layers including the embeddings, H hidden, K width, S shuffles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.aligners.encoder import model_with_head, sentence_means, states_by_row
from calque.analysis.measures.alignment import Types, nearest, tables_of
from calque.analysis.records.record import (
    ALIGNMENT,
    CKA,
    LINEAR,
    RETRIEVAL,
    MeasuredModel,
    Measurement,
    Null,
    Record,
)
from calque.analysis.tasks.task import Reader, Task
from calque.derive.corpus import Ragged
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages, only_last
from calque.derive.sentence import Example
from calque.derive.task_data import TaskFolder
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.config import out_of_range
from calque.pretrain.lazy import Tensor, torch
from calque.pretrain.model import state_of
from calque.pretrain.run import restore

RIDGE = 1.0  # ridge penalty, for standardised features and squared errors summed over words
MOST_SHUFFLES = 10_000  # each shuffle is stored as a permutation of a probe's items
ALIKE = 5  # minimum group size; shuffling smaller groups often leaves items in place
LOW, HIGH = 2.5, 97.5  # percentiles of nulls
Draw = Callable[[Sequence[Hashable]], np.ndarray]  # `shuffled`, given the number of shuffles and the seed
LIKE_FREQUENT = 10  # number of similarly frequent types in a group


@dataclass(frozen=True)
class ProbeConfig:
    """The numbers of parallel sentences, of tagged sentences to train on and to test on, and of shuffles for
    null distributions."""

    sentences: int = 400
    tagged: int = 300
    tested: int = 400
    shuffles: int = 200
    seed: int = 0

    def mistakes(self) -> list[str]:
        wrong = out_of_range(self, (), (), (), sentences=20, tagged=20, tested=20, shuffles=40)
        if self.shuffles > MOST_SHUFFLES:
            wrong.append(f"shuffles must be at most {MOST_SHUFFLES:,}, not {self.shuffles:,}")
        if not 0 <= self.seed < 2**63:
            wrong.append("seed must be at least 0 and below 2**63")
        return wrong


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
        by_row = states_by_row(model, self.rows, language)
        states = {row: hidden[-1].clone() for row, hidden in by_row}  # a view would keep all layers in memory
        return torch.stack([states[row][place] for row, place in self.places.tolist()])


def growth(
    model: MeasuredModel, probes: Probes, snapshots: Mapping[int, Path], progress: Callable[[int, int], None]
) -> Measurement:
    """Run all probes on each snapshot, by step."""
    network, records = model_with_head(model), list[Record]()
    for done, (step, path) in enumerate(snapshots.items(), start=1):
        restore(state_of(network), path)
        records += probes(network, replace(model, step=step))
        progress(done, len(snapshots))
    return Measurement(tuple(records))


class Probes:
    """Runs all probes on the last `share` of two languages' text, in rows of at most `length` ids, and on a
    task's examples."""

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
        self.task, self.draw = task.name, partial(shuffled, shuffles=config.shuffles, seed=config.seed)
        self.numbers = [languages[name].number for name in (SOURCE, self.language)]
        self.types = Types.open(languages.folder, self.language)
        self.train, self.test = _tagged_sets(languages, examples, task, length, config)
        self.pairs = _pairs(only_last(languages, share), length, config.sentences)
        self.pairings = self.draw([(len(a), len(b)) for a, b in zip(*self.pairs, strict=True)])
        self.untrained: dict[int, float] = {}  # each layer's CKA before training, its chance level

    def __call__(self, network: Any, model: MeasuredModel) -> list[Record]:
        model, probes = replace(model, language=self.language), (self._types, self._sentences, self._words)
        return list(chain.from_iterable(probe(network, model) for probe in probes))

    def _types(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """Compare alignment@1 with pairing types with random types of similar frequency."""
        types = self.types
        if not types.measurable:
            return
        forward = nearest(*types.rows_of(*tables_of(network)))
        hits = forward == np.arange(len(forward))
        shuffled_hits = forward == self.draw(like_frequent(types.counts[types.types]))
        for metric, kind in (("all", types.moved), ("held-out", types.moved & ~types.in_dictionary)):
            if count := int(kind.sum()):
                band = null(shuffled_hits[:, kind].mean(1), 1 / len(forward))
                yield model.record(ALIGNMENT, metric, float(hits[kind].mean()), count, null=band)

    def _sentences(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        count, derived = len(self.pairs[0]), (network, self.pairs[1], self.numbers[1])
        sides = sentence_means(network, self.pairs[0], self.numbers[0]), sentence_means(*derived)
        ckas = exchanged_ckas(*derived, *sides, self.draw)
        for layer, (source, target) in enumerate(zip(*sides, strict=True)):
            both = nearest(source, target), nearest(target, source)
            hits = mutually_nearest(*both, np.arange(count))
            band = null(mutually_nearest(*both, self.pairings).mean(1), 1 / (2 * count - 1))
            yield model.record(RETRIEVAL, "mexa", float(hits.mean()), count, layer=layer, null=band)
            cka = linear_cka(source, target)
            if model.step == 0:
                self.untrained[layer] = cka
            band = null(ckas[layer], self.untrained.get(layer))
            yield model.record(CKA, "sentences", cka, count, layer=layer, null=band)

    def _words(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        train, test = self.train, self.test
        probe = linear_probe(train.vectors(network, self.numbers[0]), train.labels)
        predicted = probe(test.vectors(network, self.numbers[1]))
        chance = float((test.labels == np.bincount(train.labels).argmax()).mean())
        of_places = null((predicted == test.labels[self.draw(test.kinds)]).mean(1), chance)
        types = np.array([test.rows[row][place] for row, place in test.places])
        exchanged = null(exchanged_accuracies(predicted, test.labels, types, self.draw), chance)
        low, high = min(of_places.low, exchanged.low), max(of_places.high, exchanged.high)
        about = {"task": self.task, "null": replace(of_places, low=low, high=high)}
        correct = float((predicted == test.labels).mean())
        yield model.record(LINEAR, "accuracy", correct, len(predicted), **about)


def _pairs(languages: Languages, length: int, limit: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return up to `limit` distinct sentences and their counterparts, as rows."""
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


def _tagged_sets(
    languages: Languages, examples: TaskFolder, task: Task, length: int, config: ProbeConfig
) -> tuple[TaggedWords, TaggedWords]:
    """Return the tagged words for training, in the source, and for testing, in the derived language."""
    (derived,) = languages.others
    train = list(islice(examples.examples("train"), config.tagged))
    tests = [list(islice(examples.examples("test", name), config.tested)) for name in (SOURCE, derived)]
    labels = task.labels(map(task.gold, chain(train, *tests)))

    def tagged(name: str, chosen: Sequence[Example]) -> TaggedWords:
        reader = Reader.of(languages, name)
        rows = [row for example in chosen for row in task.rows(example, labels, reader, length)[0]]
        targets = [row.targets for row in rows]
        places = [(i, place) for i, row in enumerate(targets) for place in np.flatnonzero(row != UNLABELLED)]
        of_words = np.array([targets[i][place] for i, place in places], np.int64)
        return TaggedWords([row.ids.astype(np.int64) for row in rows], np.array(places), of_words)

    test = tagged(derived, tests[1])
    chosen = in_company(test.kinds, "tagged words to test a probe", "probe.tested")
    return tagged(SOURCE, train), replace(test, places=test.places[chosen], labels=test.labels[chosen])


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Return each type's group of LIKE_FREQUENT similarly frequent types; the last group may be larger."""
    rank, last = np.argsort(np.argsort(-counts, kind="stable")), max(len(counts) // LIKE_FREQUENT - 1, 0)
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, last).tolist()
    return groups


def in_company(kinds: Sequence[Hashable], what: str, setting: str) -> list[int]:
    """Return the indices of the items whose kind occurs at least ALIKE times. Raises BadInput if there are
    none."""
    counts = Counter(kinds)
    indices = [place for place, kind in enumerate(kinds) if counts[kind] >= ALIKE]
    if not indices:
        raise BadInput(f"too few {what}: {len(kinds)} (increase {setting})")
    return indices


def shuffled(kinds: Sequence[Hashable], shuffles: int, seed: int) -> np.ndarray:
    """Return random permutations (S, N) of the items within each kind."""
    number: dict[Hashable, int] = {}
    kind_of = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int64)
    by_kind, random = np.argsort(kind_of, kind="stable"), np.random.default_rng(seed)
    permutations = np.empty((shuffles, len(kind_of)), np.int64)
    for permutation in permutations:
        order = np.lexsort((random.random(len(kind_of)), kind_of[by_kind]))
        permutation[by_kind] = by_kind[order]
    return permutations


def null(values: np.ndarray, chance: float | None = None) -> Null:
    """Summarise the values (S,) obtained by shuffling; `chance` defaults to their mean."""
    # Shares of few items are coarse, so percentiles are not interpolated.
    low = float(np.percentile(values, LOW, method="lower"))
    high = float(np.percentile(values, HIGH, method="higher"))
    return Null(float(np.mean(values)) if chance is None else chance, low, high, len(values))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, draw: Draw
) -> np.ndarray:
    """Return the accuracies (S,) of predicted labels (N,) after giving each type (N,) the gold labels of a
    similarly frequent type."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predictions, shares = (np.zeros((len(counts), width)) for _ in range(2))  # by type and label
    np.add.at(predictions, (type_of, predicted), 1)
    np.add.at(shares, (type_of, labels), 1 / counts[type_of])
    exchanges = draw(like_frequent(counts))
    return np.array([(predictions * shares[exchange]).sum() for exchange in exchanges]) / len(predicted)


def mutually_nearest(forward: np.ndarray, backward: np.ndarray, pairing: np.ndarray) -> np.ndarray:
    """Return whether each row and its partner, `pairing` (..., N), are nearest to each other, given the
    indices of nearest rows (N,) (MEXA, Kargaran et al. 2024, equation 1)."""
    return (forward == pairing) & (backward[pairing] == np.arange(len(forward)))


def linear_cka(x: Tensor, y: Tensor) -> float:
    """Return the linear CKA of `x` (N, H) and `y` (N, K) (Kornblith et al. 2019, section 3)."""
    a, b = (side.double() - side.double().mean(0) for side in (x, y))
    norm = torch.linalg.matrix_norm(a.T @ a) * torch.linalg.matrix_norm(b.T @ b)
    if not norm > 0:
        raise ValueError("all vectors in one language are identical, so CKA is undefined")
    return float(torch.linalg.matrix_norm(b.T @ a) ** 2 / norm)


def linear_probe(vectors: Tensor, labels: np.ndarray, ridge: float = RIDGE) -> Callable[[Tensor], np.ndarray]:
    """Fit a ridge regression on standardised vectors (N, H); return a function that predicts labels (M,)."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if len(set(labels.tolist())) < 2:
        raise ValueError("all words have the same label, but a probe needs at least two")
    probe = make_pipeline(StandardScaler(), RidgeClassifier(ridge))
    probe.fit(vectors.double().cpu().numpy(), labels)
    return lambda new_vectors: np.asarray(probe.predict(new_vectors.double().cpu().numpy()))


def exchanged_ckas(
    model: Any, rows: Sequence[np.ndarray], language: int, x: Tensor, y: Tensor, draw: Draw
) -> np.ndarray:
    """Return the linear CKA (L, S) of sentences' mean states, (L, N, H), after exchanging the mean states of
    similarly frequent types in `y`, the means of `rows`."""
    lengths = np.array([len(row) - 2 for row in rows])
    types, inside = np.unique(np.concatenate([row[1:-1] for row in rows]), return_inverse=True)
    type_of, counts = Ragged.of(inside, lengths), np.bincount(inside)
    shares = np.zeros((len(rows), len(types)), np.float32)
    sums = y.new_zeros(len(y), len(types), y.shape[2])
    for row, hidden in states_by_row(model, rows, language):
        np.add.at(shares[row], type_of[row], 1 / lengths[row])
        sums.index_add_(1, torch.from_numpy(type_of[row]).to(y.device), hidden[:, 1:-1])
    means = sums / torch.from_numpy(counts).to(y.device)[:, None]
    share, exchanges = torch.from_numpy(shares).to(y.device), draw(like_frequent(counts))
    ckas = np.empty((len(y), len(exchanges)))
    for number, exchange in enumerate(torch.from_numpy(exchanges).to(y.device)):
        changes = share @ (means[:, exchange] - means)
        ckas[:, number] = [linear_cka(*sides) for sides in zip(x, y + changes, strict=True)]
    return ckas
