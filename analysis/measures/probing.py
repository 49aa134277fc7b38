"""Probe what two languages share at a step of pretraining; every number has a null distribution. Shapes: N
sentences or words, L layers including the embeddings, H hidden, T types, K width, S shuffles, C labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.measures import loss
from calque.analysis.measures.alignment import Types, alignment_nulls, alignment_of_model
from calque.analysis.measures.nulls import (
    either,
    exchanged_accuracies,
    in_company,
    like_frequent,
    null,
    shuffled,
)
from calque.analysis.measures.states import (
    model_with_head,
    mutually_nearest,
    nearest,
    sentence_means,
    states,
)
from calque.analysis.records.record import (
    ALIGNMENT,
    CKA,
    GRADIENTS,
    HELD_OUT,
    LINEAR,
    RETRIEVAL,
    MeasuredModel,
    Measurement,
    Record,
)
from calque.analysis.tasks.rows import UNLABELLED, Reader
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput
from calque.derive.language import SOURCE, Bitext, Language
from calque.derive.languages import Languages, only_last
from calque.derive.ragged import Ragged
from calque.derive.source import Example
from calque.derive.task_data import TaskFolder
from calque.pretrain.batch import Rows
from calque.pretrain.checkpoint import load_snapshot
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.objectives.mlm import Monolingual

LEAST = {"sentences": 20, "rows": 8, "tagged": 20, "tested": 20, "shuffles": 40}
RIDGE = 1.0  # ridge penalty, for standardised features and squared errors summed over words
MOST_SHUFFLES = 10_000  # each shuffle is stored as a permutation of a probe's items


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
        sizes = ((name, low, getattr(self, name)) for name, low in LEAST.items())
        wrong = [f"{name} must be at least {low}, not {size}" for name, low, size in sizes if size < low]
        if self.shuffles > MOST_SHUFFLES:
            wrong.append(f"shuffles must be at most {MOST_SHUFFLES:,}, not {self.shuffles:,}")
        if not 0 <= self.seed < 2**63:
            wrong.append("seed must be at least 0 and below 2**63")
        return wrong


@dataclass(frozen=True)
class TaggedWords:
    """Rows of ids, with each labelled word's row and position, `at` (N, 2), and label index, `labels`
    (N,)."""

    rows: list[np.ndarray]
    at: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(
        cls, examples: Iterable[Example], task: Task, labels: tuple[str, ...], reader: Reader, length: int
    ) -> TaggedWords:
        rows, at, targets = list[np.ndarray](), list[tuple[int, int]](), list[int]()
        for example in examples:
            for row in task.rows(example, labels, reader, length)[0]:
                places = np.flatnonzero(row.targets != UNLABELLED)
                at += [(len(rows), place) for place in places.tolist()]
                targets += row.targets[places].tolist()
                rows.append(row.ids.astype(np.int64))
        return cls(rows, np.array(at).reshape(-1, 2), np.array(targets, np.int64))

    @property
    def types(self) -> np.ndarray:
        return np.array([self.rows[row][place] for row, place in self.at])

    @property
    def kinds(self) -> list[Hashable]:
        """Return each word's position and row length, which can give its label away."""
        return [(place, len(self.rows[row])) for row, place in self.at.tolist()]

    def in_company(self) -> TaggedWords:
        kept = in_company(self.kinds)
        if not kept:
            raise BadInput(f"too few tagged words to test a probe: {len(self.at)} (increase probe.tested)")
        return TaggedWords(self.rows, self.at[kept], self.labels[kept])

    def vectors(self, model: Any, language: int) -> Tensor:
        """The words' states (N, H) after the last layer."""
        found: dict[int, Tensor] = {}
        for places, hidden in states(model, self.rows, language):
            found.update(zip(places, hidden[-1], strict=True))
        return torch.stack([found[row][place] for row, place in self.at.tolist()])


@dataclass(frozen=True)
class ProbeText:
    """The text used by the probes. Every labelled id is masked in `masked`; `gradient_rows` are masked as in
    pretraining. `unigram` is the loss when predicting by frequency, `numbers` contains token types, and
    `types` is None if there is no second script."""

    language: str
    numbers: tuple[int, int]
    pairs: tuple[list[np.ndarray], list[np.ndarray]]
    masked: dict[str, Rows]
    unigram: dict[str, float]
    gradient_rows: tuple[Rows, Rows]
    train: TaggedWords
    tests: dict[str, TaggedWords]
    types: Types | None

    @classmethod
    def of(
        cls,
        languages: Languages,
        share: float,
        length: int,
        task: Task,
        examples: TaskFolder,
        config: ProbeConfig,
    ) -> ProbeText:
        """Read the last `share` of the text, in rows of `length` ids."""
        (other,) = languages.others
        held = only_last(languages, share)
        stream, rows = Monolingual(held, length, MASK_RATE), config.rows
        sizes = list(stream.parts.values())
        if min(sizes) < 2 * rows:
            text = f"the held-out text fills {min(sizes)} rows of {length} ids"
            raise BadInput(f"{text}, fewer than twice probe.rows ({rows})", languages.folder)

        def drawn(first: int, seed: int) -> Rows:
            return stream.draw(range(first, first + rows), np.random.default_rng(seed))[0]

        of_source, of_other = drawn(0, config.seed), drawn(sizes[0], config.seed)
        masked, unigram, counts = dict[str, Rows](), dict[str, float](), languages.vocabulary.counts
        for name, text_rows in ((SOURCE, of_source), (other, of_other)):
            masked[name] = loss.masked_only(text_rows, languages.specials.mask)
            unigram[name] = loss.unigram_loss(_types(masked[name], languages[name]), counts)
        types = Types.open(languages.folder, other)
        train, tests = _tagged_sets(languages, examples, task, length, config)
        return cls(
            language=other,
            numbers=(languages[SOURCE].number, languages[other].number),
            pairs=_pairs(held.bitext(SOURCE, other), held, length, config.sentences),
            masked=masked,
            unigram=unigram,
            gradient_rows=(of_source, drawn(sizes[0] + rows, config.seed + 1)),
            train=train,
            tests={name: words.in_company() for name, words in tests.items()},
            types=types if types.measurable else None,
        )


def _pairs(
    bitext: Bitext, languages: Languages, length: int, most: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return up to `most` distinct sentences and their counterparts, as rows."""
    start, end = languages.specials.start, languages.specials.end
    seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    for number in range(len(bitext)):
        first, second = bitext.ids(number)
        if len(seen) < most and max(len(first), len(second)) <= length - 2:
            seen.setdefault(first.tobytes(), (first, second))
    pairs = list(seen.values())
    kept = in_company([(len(first), len(second)) for first, second in pairs])
    if not kept:
        raise BadInput(f"too few parallel sentences are held out: {len(pairs)}", languages.folder)
    sides = [[np.concatenate([[start], pairs[i][side], [end]]) for i in kept] for side in (0, 1)]
    return sides[0], sides[1]


def _types(rows: Rows, language: Language) -> np.ndarray:
    labels = rows.labels.flatten()[rows.positions.at[: loss.MOST]].tolist()
    tables = language.table[None] if language.places is None else language.places
    type_of = {row: number for table in tables for number, row in enumerate(table.tolist())}
    return np.array([type_of[label] for label in labels])


def _tagged_sets(
    languages: Languages, examples: TaskFolder, task: Task, length: int, config: ProbeConfig
) -> tuple[TaggedWords, dict[str, TaggedWords]]:
    names = (SOURCE, *languages.others)
    train = list(islice(examples.examples("train"), config.tagged))
    tests = {name: list(islice(examples.examples("test", name), config.tested)) for name in names}
    labels = task.labels(task.gold(example) for example in chain(train, *tests.values()))
    readers = {name: Reader.of(languages, name) for name in names}
    words = {name: TaggedWords.of(tests[name], task, labels, readers[name], length) for name in names}
    return TaggedWords.of(train, task, labels, readers[SOURCE], length), words


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
    for i, record in enumerate(records):
        if record.measure == CKA and record.null and record.layer in untrained:
            records[i] = replace(record, null=replace(record.null, chance=untrained[record.layer]))
    return Measurement(tuple(records))


class Probes:
    """Runs all probes on the same text, in evaluation mode."""

    def __init__(self, text: ProbeText, task: str, config: ProbeConfig) -> None:
        self.text, self.task = text, task
        self.shuffles, self.seed = config.shuffles, config.seed
        lengths: list[Hashable] = [(len(a), len(b)) for a, b in zip(*text.pairs, strict=True)]
        self.pairings = shuffled(lengths, self.shuffles, self.seed)
        self.shuffled_labels = {
            name: words.labels[shuffled(words.kinds, self.shuffles, self.seed)]
            for name, words in text.tests.items()
        }

    def __call__(self, network: Any, model: MeasuredModel) -> list[Record]:
        network.eval()
        model = replace(model, language=self.text.language)
        probes = (self._losses, self._gradients, self._alignment, self._sentences, self._words)
        return [record for probe in probes for record in probe(network, model)]

    def _about(self, name: str) -> dict[str, str]:
        return {"language": name, "first": self.text.language if name == SOURCE else ""}

    def _losses(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        device = next(network.parameters()).device
        for name, rows in self.text.masked.items():
            nats, count, values = loss.masked_loss(network, rows.to(device), self.shuffles, self.seed)
            band = null(values, self.text.unigram[name])
            yield model.record(HELD_OUT, "nats", nats, count, null=band, **self._about(name))

    def _gradients(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        device = next(network.parameters()).device
        ours, theirs = (loss.gradient_parts(network, rows.to(device)) for rows in self.text.gradient_rows)
        first, second = loss.whole(ours), loss.whole(theirs)
        of_units = null(loss.shuffled_cosines(first, second, self.shuffles, self.seed), 0.0)
        of_text = null(loss.noise_cosines(ours, theirs, self.shuffles, self.seed), 0.0)
        cosine, count = loss.gradient_cosine(first, second), sum(gradient.numel() for gradient in first)
        yield model.record(GRADIENTS, "layers", cosine, count, null=either(of_units, of_text))

    def _alignment(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        if self.text.types is None:
            return
        shares = alignment_of_model(network, self.text.types).shares
        for metric, band in alignment_nulls(network, self.text.types, self.shuffles, self.seed).items():
            yield model.record(ALIGNMENT, metric, *shares[metric], null=band)

    def _sentences(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        text, pairs, numbers = self.text, self.text.pairs, self.text.numbers
        n, types = len(pairs[0]), type_means(network, pairs[1], numbers[1])
        sides = [sentence_means(network, pairs[side], numbers[side]) for side in (0, 1)]
        here, inverse = np.arange(n), np.argsort(self.pairings, axis=1)
        for layer, (source, other) in enumerate(zip(*sides, strict=True)):
            forward, back = nearest(source, other), nearest(other, source)
            both = mutually_nearest(forward, back, here)
            shuffled_both = mutually_nearest(forward, back, self.pairings)
            for metric, name, hits, shuffled_hits, chance in (
                ("cosine", text.language, forward == here, forward == self.pairings, 1 / n),
                ("cosine", SOURCE, back == here, back == inverse, 1 / n),
                ("mexa", text.language, both, shuffled_both, 1 / (2 * n - 1)),
            ):
                about = {"layer": layer, "null": null(shuffled_hits.mean(1), chance), **self._about(name)}
                yield model.record(RETRIEVAL, metric, float(hits.mean()), n, **about)
            band = null(types.exchanged_ckas(source, other, layer, self.shuffles, self.seed))
            yield model.record(CKA, "sentences", linear_cka(source, other), n, layer=layer, null=band)

    def _words(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        train = self.text.train
        probe = linear_probe(train.vectors(network, self.text.numbers[0]), train.labels)
        usual = np.bincount(train.labels).argmax()
        for (name, words), number in zip(self.text.tests.items(), self.text.numbers, strict=True):
            predicted = probe(words.vectors(network, number)).argmax(1).cpu().numpy()
            chance = float((words.labels == usual).mean())
            of_places = null((predicted == self.shuffled_labels[name]).mean(1), chance)
            exchanged = exchanged_accuracies(predicted, words.labels, words.types, self.shuffles, self.seed)
            about = {"task": self.task, "null": either(of_places, null(exchanged, chance))}
            correct = float((predicted == words.labels).mean())
            yield model.record(LINEAR, "accuracy", correct, len(predicted), **about, **self._about(name))


def linear_cka(x: Tensor, y: Tensor) -> float:
    """Return the linear CKA of `x` (N, H) and `y` (N, K) (Kornblith et al. 2019, section 3)."""
    a, b = (side.double() - side.double().mean(0) for side in (x, y))
    norm = torch.linalg.matrix_norm(a.T @ a) * torch.linalg.matrix_norm(b.T @ b)
    if not norm > 0:
        raise ValueError("all vectors in one language are identical, so CKA is undefined")
    return float(torch.linalg.matrix_norm(b.T @ a) ** 2 / norm)


def linear_probe(vectors: Tensor, labels: np.ndarray, ridge: float = RIDGE) -> Callable[[Tensor], Tensor]:
    """Fit a ridge regression on standardised vectors (N, H); return a function that maps vectors to label
    scores (M, C)."""
    if len(set(labels.tolist())) < 2:
        raise ValueError("all words have the same label, but a probe needs at least two")
    x = vectors.double()
    mean, scale = x.mean(0), x.std(0, correction=0).clamp_min(1e-6)

    def features(vectors: Tensor) -> Tensor:
        return F.pad((vectors.double() - mean) / scale, (0, 1), value=1.0)

    design, targets = features(x), F.one_hot(torch.from_numpy(labels).to(x.device)).double()
    penalty = ridge * torch.eye(design.shape[1], dtype=torch.float64, device=x.device)
    penalty[-1, -1] = 0.0
    weights = torch.linalg.lstsq(design.T @ design + penalty, design.T @ targets).solution
    return lambda others: features(others) @ weights


@dataclass(frozen=True)
class TypeMeans:
    """Each type's mean state at each layer (L, T, H), its share of each sentence (N, T), and its frequency
    (T,)."""

    means: Tensor
    shares: Tensor
    counts: np.ndarray

    def exchanged_ckas(self, x: Tensor, y: Tensor, layer: int, shuffles: int, seed: int) -> np.ndarray:
        """The linear CKA (S,) of `x` and `y` after exchanging the means of similarly frequent types in
        `y`."""
        exchanges = torch.from_numpy(shuffled(like_frequent(self.counts), shuffles, seed)).to(y.device)
        means = self.means[layer]
        ckas = [linear_cka(x, y + self.shares @ (means[exchange] - means)) for exchange in exchanges]
        return np.array(ckas)


def type_means(model: Any, rows: Sequence[np.ndarray], language: int) -> TypeMeans:
    """Average each type's hidden states over its occurrences, at each layer."""
    lengths = np.array([len(row) - 2 for row in rows])
    types, inside = np.unique(np.concatenate([row[1:-1] for row in rows]), return_inverse=True)
    type_of, counts = Ragged.of(inside, lengths), np.bincount(inside)
    shares = np.zeros((len(rows), len(types)), np.float32)
    for row, own in enumerate(type_of):
        np.add.at(shares[row], own, 1 / len(own))
    sums: list[Tensor] = []
    for places, hidden in states(model, rows, language):
        sums = sums or [layer.new_zeros(len(types), layer.shape[2]) for layer in hidden]
        here = torch.from_numpy(np.concatenate([type_of[place] for place in places])).to(hidden[0].device)
        for total, layer in zip(sums, hidden, strict=True):
            total.index_add_(0, here, torch.cat([layer[i, 1 : 1 + lengths[p]] for i, p in enumerate(places)]))
    means = torch.stack(sums) / torch.from_numpy(counts).to(sums[0].device)[:, None]
    return TypeMeans(means, torch.from_numpy(shares).to(means.device), counts)
