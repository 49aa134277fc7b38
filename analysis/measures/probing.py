"""Probes of a model: what two languages have in common at one step of pretraining, each number with its null.

Shapes: L layers with the embeddings, N sentences or words, H hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.measures.alignment import alignment_nulls, alignment_of_model
from analysis.measures.gradients import gradient_cosine, gradient_parts, noise_cosines, shuffled_cosines, whole
from analysis.measures.loss import masked_loss
from analysis.measures.nulls import either, exchanged_accuracies, null, shuffled
from analysis.measures.probe_text import ProbeConfig, ProbeText, TaggedWords
from analysis.measures.states import sentence_means, states, type_means
from analysis.measures.vectors import LinearProbe, linear_cka, mutually_nearest, nearest
from analysis.records.record import (
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
from derive.errors import BadInput
from derive.language import SOURCE
from pretrain.architecture import architecture_of
from pretrain.checkpoint import load_snapshot
from pretrain.saved_model import WEIGHTS, load_model, read_config


def growth(
    model: MeasuredModel, probes: Probes, snapshots: Mapping[int, Path], progress: Callable[[int, int], None]
) -> Measurement:
    """All probes of a model at each of its snapshots, files by step."""
    network, records = model_with_head(model.checkpoint), list[Record]()
    network.to(model.device)
    for done, (step, path) in enumerate(snapshots.items(), start=1):
        load_snapshot(network, path)
        records += probes(network, replace(model, step=step))
        progress(done, len(snapshots))
    return Measurement(tuple(with_untrained_chance(records)))


def model_with_head(checkpoint: Path) -> Any:
    """The masked language model of a folder, to be probed: in evaluation mode, on the CPU.

    Raises:
        BadInput: there is no model that can be read, or it has no prediction head.
    """
    spelt = architecture_of(read_config(checkpoint))
    model, missing = load_model(checkpoint, spelt.masked_model)
    if headless := [name for name in missing if name.startswith(f"{spelt.head}.")]:
        raise BadInput(
            f"a model without a prediction head ({headless[0]} is missing): it has neither loss nor gradient to probe",
            checkpoint / WEIGHTS,
        )
    return model.eval()


def with_untrained_chance(records: Sequence[Record]) -> list[Record]:
    """The records of a run, with the CKA of the model before the first step as the chance level of CKA.

    Translations share words with the same other sentences, which is enough for CKA: random rows have it too. The
    model's own first value is that level, including all that stays when types are exchanged.
    """
    untrained = {record.layer: record.value for record in records if record.measure == CKA and record.step == 0}
    return [
        replace(record, null=replace(record.null, chance=untrained[record.layer]))
        if record.measure == CKA and record.null and record.layer in untrained
        else record
        for record in records
    ]


class Probes:
    """All probes on one text; a probe leaves the model as it is, except for the mode, which is evaluation."""

    def __init__(self, text: ProbeText, task: str, config: ProbeConfig) -> None:
        self.text, self.task = text, task
        self.shuffles, self.seed = config.shuffles, config.seed
        lengths: list[Hashable] = [(len(a), len(b)) for a, b in zip(*text.pairs, strict=True)]
        self.pairings = shuffled(lengths, self.shuffles, self.seed)
        self.shuffled_labels = {
            name: words.labels[shuffled(words.kinds, self.shuffles, self.seed)] for name, words in text.tests.items()
        }

    def __call__(self, network: Any, model: MeasuredModel) -> list[Record]:
        """Every number of `network`, the weights of a model at one of its steps."""
        network.eval()
        model = replace(model, language=self.text.language)
        probes = (self._losses, self._gradients, self._alignment, self._sentences, self._words)
        return [record for probe in probes for record in probe(network, model)]

    def _about(self, name: str) -> dict[str, str]:
        """The languages of a number; if it is about the source, `first` is the language that was learnt with it."""
        return {"language": name, "first": self.text.language if name == SOURCE else ""}

    def _losses(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """The loss on held-out text of each language, with a fixed mask; chance: a prediction by frequency alone."""
        for name, rows in self.text.masked.items():
            loss, count, values = masked_loss(network, rows.to(_device(network)), self.shuffles, self.seed)
            band = null(values, self.text.unigram[name])
            yield model.record(HELD_OUT, "nats", loss, count, null=band, **self._about(name))

    def _gradients(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """The cosine of the languages' gradients; chance: 0, as of unrelated vectors.

        The null is the wider of two: units are shuffled, and the parts of the texts get random signs.
        """
        ours, theirs = (gradient_parts(network, rows.to(_device(network))) for rows in self.text.gradient_rows)
        first, second = whole(ours), whole(theirs)
        of_units = null(shuffled_cosines(first, second, self.shuffles, self.seed), 0.0)
        of_text = null(noise_cosines(ours, theirs, self.shuffles, self.seed), 0.0)
        count = sum(gradient.numel() for gradient in first)
        yield model.record(GRADIENTS, "layers", gradient_cosine(first, second), count, null=either(of_units, of_text))

    def _alignment(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """alignment@1 of types; chance: one of the candidates."""
        if self.text.types is None:
            return
        shares = alignment_of_model(network, self.text.types).shares
        for metric, band in alignment_nulls(network, self.text.types, self.shuffles, self.seed).items():
            yield model.record(ALIGNMENT, metric, *shares[metric], null=band)

    def _sentences(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """Retrieval of translations, both ways and mutually, and CKA, by layer.

        For retrieval pairs are shuffled among sentences of the same length, for CKA types exchanged for others that are
        as frequent. Chance: for retrieval one way one sentence of N, both ways the largest of 2N - 1 cosines; for CKA
        the mean after exchanges.
        """
        text = self.text
        sides = [sentence_means(network, rows, number) for rows, number in zip(text.pairs, text.numbers, strict=True)]
        n, types = len(text.pairs[0]), type_means(network, text.pairs[1], text.numbers[1])
        here, inverse = np.arange(n), np.argsort(self.pairings, axis=1)
        for layer, (source, other) in enumerate(zip(*sides, strict=True)):
            forward, back = nearest(source, other), nearest(other, source)
            both, shuffled_both = (mutually_nearest(forward, back, pairing) for pairing in (here, self.pairings))
            for metric, name, hits, shuffled_hits, chance in (
                ("cosine", text.language, forward == here, forward == self.pairings, 1 / n),
                ("cosine", SOURCE, back == here, back == inverse, 1 / n),
                ("mexa", text.language, both, shuffled_both, 1 / (2 * n - 1)),
            ):
                band = null(shuffled_hits.mean(1), chance)
                about = {"layer": layer, "null": band, **self._about(name)}
                yield model.record(RETRIEVAL, metric, float(hits.mean()), n, **about)
            band = null(types.exchanged_ckas(source, other, layer, self.shuffles, self.seed))
            yield model.record(CKA, "sentences", linear_cka(source, other), n, layer=layer, null=band)

    def _words(self, network: Any, model: MeasuredModel) -> Iterator[Record]:
        """Labels by a linear probe that learnt them from source words; chance: the most frequent label in training.

        The null is the wider of two: words are shuffled among those at the same place in rows of the same length, and
        types exchanged for others that are as frequent.
        """
        train, (own, _) = self.text.train, self.text.numbers
        probe = LinearProbe.fitted(_vectors(network, train, own), train.labels)
        usual = np.bincount(train.labels).argmax()
        for (name, words), number in zip(self.text.tests.items(), self.text.numbers, strict=True):
            predicted = probe(_vectors(network, words, number))
            chance = float((words.labels == usual).mean())
            of_places = null((predicted == self.shuffled_labels[name]).mean(1), chance)
            exchanged = exchanged_accuracies(predicted, words.labels, words.types, self.shuffles, self.seed)
            about = {"task": self.task, "null": either(of_places, null(exchanged, chance)), **self._about(name)}
            correct = float((predicted == words.labels).mean())
            yield model.record(LINEAR, "accuracy", correct, len(predicted), **about)


def _vectors(model: Any, words: TaggedWords, language: int) -> Tensor:
    """The last layer's state of each word, (N, H)."""
    rows: dict[int, Tensor] = {}
    for places, hidden in states(model, words.rows, language):
        rows.update(zip(places, hidden[-1], strict=True))
    return torch.stack([rows[row][place] for row, place in words.at.tolist()])


def _device(model: Any) -> torch.device:
    device: torch.device = next(model.parameters()).device
    return device
