"""Probe what two languages share at a step of pretraining. Every number has a null distribution: its values
after shuffling within groups that share a property unrelated to meaning, such as sentence length. Shapes: N
sentences, words or masked ids, L layers including the embeddings, H hidden, K width, S shuffles, V
vocabulary, U units, I inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.measures.alignment import Types, tables_of
from calque.analysis.measures.states import (
    model_with_head,
    mutually_nearest,
    nearest,
    sentence_means,
    states_by_row,
)
from calque.analysis.records import record
from calque.analysis.records.record import CKA, MeasuredModel, Measurement, Null, Record
from calque.analysis.tasks.rows import UNLABELLED, Reader, TaskRow
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput
from calque.derive.language import SOURCE, Bitext, Language
from calque.derive.languages import Languages, only_last
from calque.derive.ragged import Ragged
from calque.derive.source import Example
from calque.derive.task_data import TaskFolder
from calque.pretrain.architecture import architecture_of
from calque.pretrain.batch import Rows
from calque.pretrain.config import out_of_range
from calque.pretrain.lazy import Tensor, inference_mode, torch
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.model import encode, prediction_loss
from calque.pretrain.objectives.mlm import Monolingual
from calque.pretrain.saved_model import load_snapshot

LEAST = {"sentences": 20, "rows": 8, "tagged": 20, "tested": 20, "shuffles": 40}
RIDGE = 1.0  # ridge penalty, for standardised features and squared errors summed over words
MOST_SHUFFLES = 10_000  # each shuffle is stored as a permutation of a probe's items
MOST = 2048  # maximum number of masked ids used
PARTS = 8  # number of parts into which a text is split to estimate sampling noise
ALIKE = 5  # minimum group size; shuffling smaller groups often leaves items in place
LOW, HIGH = 2.5, 97.5  # percentiles of nulls
LIKE_FREQUENT = 10  # number of similarly frequent types in a group
Gradient = Sequence[Tensor]  # for each parameter of the layers, (U, I), or (U, 1) for vectors


@dataclass(frozen=True)
class ProbeConfig:
    """The numbers of parallel sentences, rows of text per language, tagged sentences, and shuffles for null
    distributions."""

    sentences: int = 400
    rows: int = 128
    tagged: int = 300
    tested: int = 400
    shuffles: int = 200
    seed: int = 0

    def mistakes(self) -> list[str]:
        wrong = out_of_range(self, (), (), (), **LEAST)
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

    @classmethod
    def of(cls, rows: Sequence[TaskRow]) -> TaggedWords:
        places = [
            (i, place) for i, row in enumerate(rows) for place in np.flatnonzero(row.targets != UNLABELLED)
        ]
        labels = np.array([rows[i].targets[place] for i, place in places], np.int64)
        return cls([row.ids.astype(np.int64) for row in rows], np.array(places), labels)

    @property
    def types(self) -> np.ndarray:
        return np.array([self.rows[row][place] for row, place in self.places])

    @property
    def kinds(self) -> list[Hashable]:
        """Return each word's position and row length, which could reveal its label."""
        return [(place, len(self.rows[row])) for row, place in self.places.tolist()]

    def in_company(self) -> TaggedWords:
        indices = in_company(self.kinds)
        if not indices:
            raise BadInput(
                f"too few tagged words to test a probe: {len(self.places)} (increase probe.tested)"
            )
        return TaggedWords(self.rows, self.places[indices], self.labels[indices])

    def vectors(self, model: Any, language: int) -> Tensor:
        """Return the words' states (N, H) after the last layer."""
        by_row = states_by_row(model, self.rows, language)
        states = {row: hidden[-1].clone() for row, hidden in by_row}  # a view would keep all layers in memory
        return torch.stack([states[row][place] for row, place in self.places.tolist()])


def growth(
    model: MeasuredModel, probes: Probes, snapshots: Mapping[int, Path], progress: Callable[[int, int], None]
) -> Measurement:
    """Run all probes on each snapshot, by step. The chance level of CKA is its value before training."""
    network, records = model_with_head(model), list[Record]()
    for done, (step, path) in enumerate(snapshots.items(), start=1):
        load_snapshot(network, path)
        records += probes(network, replace(model, step=step))
        progress(done, len(snapshots))
    untrained = {r.layer: r.value for r in records if r.measure == CKA and r.step == 0}
    for i, r in enumerate(records):
        if r.measure == CKA and r.null and r.layer in untrained:
            records[i] = replace(r, null=replace(r.null, chance=untrained[r.layer]))
    return Measurement(tuple(records))


class Probes:
    """Runs all probes, in evaluation mode, on the last `share` of two languages' text, in rows of `length`
    ids, and on a task's examples. Every labelled id in `masked` is masked; `gradient_rows` are masked as in
    pretraining."""

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
        names, held_out = (SOURCE, self.language), only_last(languages, share)
        self.task, self.seed, self.draws = task.name, config.seed, (config.shuffles, config.seed)
        self.numbers = [languages[name].number for name in names]
        self._read_rows(languages, Monolingual(held_out, length, MASK_RATE), length, config.rows)
        self.types = Types.open(languages.folder, self.language)
        self.train, tests = _tagged_sets(languages, examples, task, length, config)
        self.tests = {name: words.in_company() for name, words in tests.items()}
        self.shuffled_labels = {
            name: words.labels[shuffled(words.kinds, *self.draws)] for name, words in self.tests.items()
        }
        self.pairs = _pairs(held_out.bitext(*names), held_out, length, config.sentences)
        lengths: list[Hashable] = [(len(a), len(b)) for a, b in zip(*self.pairs, strict=True)]
        self.pairings = shuffled(lengths, *self.draws)

    def _read_rows(self, languages: Languages, stream: Monolingual, length: int, rows: int) -> None:
        sizes = list(stream.parts.values())
        if min(sizes) < 2 * rows:
            text = f"the held-out text fills {min(sizes)} rows of {length} ids"
            raise BadInput(f"{text}, fewer than twice probe.rows ({rows})", languages.folder)

        def draw(first: int, seed: int) -> Rows:
            return stream.draw(range(first, first + rows), np.random.default_rng(seed))[0]

        texts = {SOURCE: draw(0, self.seed), self.language: draw(sizes[0], self.seed)}
        self.gradient_rows = texts[SOURCE], draw(sizes[0] + rows, self.seed + 1)
        self.masked, self.unigram = dict[str, Rows](), dict[str, float]()
        mask, counts = languages.specials.mask, languages.vocabulary.counts
        for name, drawn in texts.items():
            labels = drawn.labels.masked_fill(drawn.ids != mask, UNLABELLED)
            self.masked[name] = replace(drawn, labels=labels)
            self.unigram[name] = unigram_loss(self.masked[name], languages[name], counts)

    def __call__(self, network: Any, model: MeasuredModel) -> list[Record]:
        network.eval()
        model = replace(model, language=self.language)
        probes = (self._losses, self._gradients, self._alignment, self._sentences, self._words)
        return [new_record for probe in probes for new_record in probe(network, model)]

    def _about(self, name: str) -> dict[str, str]:
        return {"language": name, "first": self.language if name == SOURCE else ""}

    def _losses(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        device = next(network.parameters()).device
        for name, rows in self.masked.items():
            nats, count, values = masked_loss(network, rows.to(device), *self.draws)
            band = null(values, self.unigram[name])
            yield model.record(record.HELD_OUT, "nats", nats, count, null=band, **self._about(name))

    def _gradients(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        device = next(network.parameters()).device
        first_parts, second_parts = (gradient_parts(network, rows.to(device)) for rows in self.gradient_rows)
        first, second = total_gradient(first_parts), total_gradient(second_parts)
        of_units = null(shuffled_cosines(first, second, *self.draws), 0.0)
        of_text = null(noise_cosines(first_parts, second_parts, *self.draws), 0.0)
        cosine, count = gradient_cosine(first, second), sum(gradient.numel() for gradient in first)
        yield model.record(record.GRADIENTS, "layers", cosine, count, null=either(of_units, of_text))

    def _alignment(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """Compare alignment@1 with pairing types with random types of similar frequency."""
        types = self.types
        if not types.measurable:
            return
        forward = nearest(*types.rows_of(*tables_of(network)))
        moved, in_dictionary = types.moved, types.in_dictionary
        hits = forward == np.arange(len(forward))
        shuffled_hits = forward == shuffled(like_frequent(types.counts[types.types]), *self.draws)
        kinds = {"all": moved, "dictionary": moved & in_dictionary, "held-out": moved & ~in_dictionary}
        for metric, kind in kinds.items():
            if count := int(kind.sum()):
                band = null(shuffled_hits[:, kind].mean(1), 1 / len(forward))
                yield model.record(record.ALIGNMENT, metric, float(hits[kind].mean()), count, null=band)

    def _sentences(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        count, derived = len(self.pairs[0]), (network, self.pairs[1], self.numbers[1])
        sides = sentence_means(network, self.pairs[0], self.numbers[0]), sentence_means(*derived)
        ckas = exchanged_ckas(*derived, *sides, *self.draws)
        identity, inverse = np.arange(count), np.argsort(self.pairings, axis=1)
        for layer, (source, target) in enumerate(zip(*sides, strict=True)):
            forward, backward = nearest(source, target), nearest(target, source)
            both = mutually_nearest(forward, backward, identity)
            shuffled_both = mutually_nearest(forward, backward, self.pairings)
            for metric, name, hits, shuffled_hits, chance in (
                ("cosine", self.language, forward == identity, forward == self.pairings, 1 / count),
                ("cosine", SOURCE, backward == identity, backward == inverse, 1 / count),
                ("mexa", self.language, both, shuffled_both, 1 / (2 * count - 1)),
            ):
                about = {"layer": layer, "null": null(shuffled_hits.mean(1), chance), **self._about(name)}
                yield model.record(record.RETRIEVAL, metric, float(hits.mean()), count, **about)
            cka = linear_cka(source, target)
            yield model.record(CKA, "sentences", cka, count, layer=layer, null=null(ckas[layer]))

    def _words(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        train = self.train
        probe = linear_probe(train.vectors(network, self.numbers[0]), train.labels)
        usual = np.bincount(train.labels).argmax()
        for (name, words), number in zip(self.tests.items(), self.numbers, strict=True):
            predicted = probe(words.vectors(network, number))
            chance = float((words.labels == usual).mean())
            of_places = null((predicted == self.shuffled_labels[name]).mean(1), chance)
            exchanged = exchanged_accuracies(predicted, words.labels, words.types, *self.draws)
            about = {
                "task": self.task,
                "null": either(of_places, null(exchanged, chance)),
                **self._about(name),
            }
            correct = float((predicted == words.labels).mean())
            yield model.record(record.LINEAR, "accuracy", correct, len(predicted), **about)


def _pairs(
    bitext: Bitext, languages: Languages, length: int, limit: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return up to `limit` distinct sentences and their counterparts, as rows."""
    start, end = languages.specials.start, languages.specials.end
    distinct: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    for first, second in map(bitext.ids, range(len(bitext))):
        if len(distinct) < limit and max(len(first), len(second)) <= length - 2:
            distinct.setdefault(first.tobytes(), (first, second))
    pairs = list(distinct.values())
    indices = in_company([(len(first), len(second)) for first, second in pairs])
    if not indices:
        raise BadInput(f"too few parallel sentences are held out: {len(pairs)}", languages.folder)
    sources, targets = (
        [np.concatenate([[start], pairs[i][side], [end]]) for i in indices] for side in (0, 1)
    )
    return sources, targets


def _tagged_sets(
    languages: Languages, examples: TaskFolder, task: Task, length: int, config: ProbeConfig
) -> tuple[TaggedWords, dict[str, TaggedWords]]:
    """Return the tagged words for training, in the source, and for testing, by language."""
    train = list(islice(examples.examples("train"), config.tagged))
    names = (SOURCE, *languages.others)
    tests = {name: list(islice(examples.examples("test", name), config.tested)) for name in names}
    labels = task.labels(map(task.gold, chain(train, *tests.values())))

    def tagged(name: str, chosen: Sequence[Example]) -> TaggedWords:
        reader = Reader.of(languages, name)
        rows = (task.rows(example, labels, reader, length)[0] for example in chosen)
        return TaggedWords.of([*chain.from_iterable(rows)])

    return tagged(SOURCE, train), {name: tagged(name, chosen) for name, chosen in tests.items()}


def like_frequent(counts: np.ndarray) -> list[Hashable]:
    """Return each type's group of LIKE_FREQUENT similarly frequent types; the last group may be larger."""
    rank, last = np.argsort(np.argsort(-counts, kind="stable")), max(len(counts) // LIKE_FREQUENT - 1, 0)
    groups: list[Hashable] = np.minimum(rank // LIKE_FREQUENT, last).tolist()
    return groups


def in_company(kinds: Sequence[Hashable]) -> list[int]:
    """Return the indices of the items whose kind occurs at least ALIKE times."""
    counts = Counter(kinds)
    return [place for place, kind in enumerate(kinds) if counts[kind] >= ALIKE]


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


def either(first: Null, second: Null) -> Null:
    """Extend the first null's band to cover the second's."""
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))


def exchanged_accuracies(
    predicted: np.ndarray, labels: np.ndarray, types: np.ndarray, shuffles: int, seed: int
) -> np.ndarray:
    """Return the accuracies (S,) of predicted labels (N,) after giving each type (N,) the gold labels of a
    similarly frequent type."""
    _, type_of = np.unique(types, return_inverse=True)
    counts, width = np.bincount(type_of), 1 + int(max(predicted.max(), labels.max()))
    predictions, shares = (np.zeros((len(counts), width)) for _ in range(2))  # by type and label
    np.add.at(predictions, (type_of, predicted), 1)
    np.add.at(shares, (type_of, labels), 1 / counts[type_of])
    exchanges = shuffled(like_frequent(counts), shuffles, seed)
    return np.array([(predictions * shares[exchange]).sum() for exchange in exchanges]) / len(predicted)


def unigram_loss(rows: Rows, language: Language, counts: np.ndarray) -> float:
    """Return the mean loss in nats when predicting labels by their types' add-one smoothed `counts` (V,)."""
    labels = rows.labels.flatten()[rows.positions.index[:MOST]].tolist()
    tables = language.table[None] if language.places is None else language.places
    type_of = {image: number for table in tables for number, image in enumerate(table.tolist())}
    counted = counts[[type_of[label] for label in labels]]
    return float(-np.log((counted + 1) / (counts.sum() + len(counts))).mean())


@inference_mode
def masked_loss(model: Any, rows: Rows, shuffles: int, seed: int) -> tuple[float, int, np.ndarray]:
    """Return the mean loss in nats over N masked ids, N, and the mean losses (S,) after shuffling the correct
    ids."""
    architecture, masked = architecture_of(model.config), rows.positions.index[:MOST]
    labels = rows.labels.flatten()[masked]
    top = encode(model, rows, len(architecture.layers(model))).flatten(0, 1)[masked]
    logits = (architecture.logits(model, part).float() for part in top.split(256))
    losses = torch.cat([-part.log_softmax(1)[:, labels] for part in logits])
    table = losses.double().cpu().numpy()  # (N, N): the loss at each position for each id
    identity, random = np.arange(len(masked)), np.random.default_rng(seed)
    values = [table[identity, random.permutation(identity)].mean() for _ in range(shuffles)]
    return float(table.diagonal().mean()), len(masked), np.array(values)


def gradient_parts(model: Any, rows: Rows) -> list[Gradient]:
    """Split the rows into PARTS parts, and return each part's contribution to the gradients."""
    return [layer_gradients(model, rows.part(i, PARTS), rows.labelled) for i in range(PARTS)]


def total_gradient(parts: Sequence[Gradient]) -> Gradient:
    """Sum gradients over parts."""
    return [torch.stack(terms).sum(0) for terms in zip(*parts, strict=True)]


def layer_gradients(model: Any, rows: Rows, labelled: int) -> Gradient:
    """Return the gradient of the MLM loss, summed over `rows` and divided by the number `labelled`."""
    parameters = list(architecture_of(model.config).layers(model).parameters())
    with torch.enable_grad():
        gradients = torch.autograd.grad(prediction_loss(model, rows) / labelled, parameters)
    return [gradient.flatten(1) if gradient.ndim > 1 else gradient[:, None] for gradient in gradients]


def gradient_cosine(first: Gradient, second: Gradient) -> float:
    """Return the cosine between two gradients over all parameters together."""
    return _product(first, second) / _norms(first, second)


def shuffled_cosines(first: Gradient, second: Gradient, shuffles: int, seed: int) -> np.ndarray:
    """Return the cosines (S,) after shuffling the units of each parameter in the second gradient."""
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for a, b in zip(first, second, strict=True):
        table = (a.double() @ b.double().T).cpu().numpy()  # (U, U)
        units = np.arange(len(table))
        products += [table[units, random.permutation(len(units))].sum() for _ in range(shuffles)]
    return products / _norms(first, second)


def noise_cosines(
    first: Sequence[Gradient], second: Sequence[Gradient], shuffles: int, seed: int
) -> np.ndarray:
    """Sample the noise (S,) in the cosine by giving each part's deviation from the mean a random sign."""
    totals = total_gradient(first), total_gradient(second)
    random, products = np.random.default_rng(seed), np.zeros(shuffles)
    for parts, opposite_total in ((first, totals[1]), (second, totals[0])):
        terms = np.array([_product(part, opposite_total) for part in parts])
        deviations = (terms - terms.mean()) * np.sqrt(len(terms) / (len(terms) - 1))
        products += random.choice((-1.0, 1.0), (shuffles, len(terms))) @ deviations
    return products / _norms(*totals)


def _product(first: Gradient, second: Gradient) -> float:
    return sum(float((a.double() * b.double()).sum()) for a, b in zip(first, second, strict=True))


def _norms(first: Gradient, second: Gradient) -> float:
    norms = _product(first, first) ** 0.5 * _product(second, second) ** 0.5
    if not norms:
        raise ValueError("a gradient is 0 everywhere, so its cosine is undefined")
    return norms


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
    model: Any, rows: Sequence[np.ndarray], language: int, x: Tensor, y: Tensor, shuffles: int, seed: int
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
    share, exchanges = torch.from_numpy(shares).to(y.device), shuffled(like_frequent(counts), shuffles, seed)
    ckas = np.empty((len(y), shuffles))
    for number, exchange in enumerate(torch.from_numpy(exchanges).to(y.device)):
        changes = share @ (means[:, exchange] - means)
        ckas[:, number] = [linear_cka(*sides) for sides in zip(x, y + changes, strict=True)]
    return ckas
