"""Probes of a model: what the two languages have in common at one step of pretraining, each number with its null.

Shapes: L layers with the embeddings, N sentences or words, H hidden.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.measures.alignment import alignment_nulls, alignment_of_model
from analysis.measures.cka import linear_cka
from analysis.measures.exchanged import exchanged_accuracies
from analysis.measures.gradients import gradient_cosine, gradient_parts, noise_cosines, shuffled_cosines, whole
from analysis.measures.linear_probe import LinearProbe
from analysis.measures.masked_loss import masked_loss
from analysis.measures.nearest import found, found_mutually, nearest
from analysis.measures.permutation import either, null, shuffled
from analysis.measures.probe_text import ProbeConfig, ProbeText, TaggedWords
from analysis.measures.states import sentence_means, states, type_means
from analysis.records.record import ALIGNMENT, CKA, GRADIENTS, HELD_OUT, LINEAR, RETRIEVAL, Record
from derive.errors import BadInput
from derive.language import SOURCE
from pretrain.architecture import architecture_of
from pretrain.saved_model import WEIGHTS, load_model, read_config


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


def beside_untrained(records: Sequence[Record]) -> list[Record]:
    """The records of a run, with what the model had before the first step as the chance level of CKA.

    Translations share words with the same other sentences, and CKA asks for no more: rows drawn at random have it too.
    The model's own first value says what that is worth with all that is left as it is when types are exchanged.
    """
    untrained = {record.layer: record.value for record in records if record.measure == CKA and record.step == 0}
    return [
        replace(record, null=replace(record.null, chance=untrained[record.layer]))
        if record.measure == CKA and record.null and record.layer in untrained
        else record
        for record in records
    ]


class Probes:
    """All probes on one text; a probe leaves the model as it is, but for the mode, which is evaluation."""

    def __init__(self, text: ProbeText, task: str, config: ProbeConfig) -> None:
        self.text, self.task, self.config = text, task, config
        lengths: list[Hashable] = [(len(a), len(b)) for a, b in zip(*text.pairs, strict=True)]
        self.pairings = shuffled(lengths, config.shuffles, config.seed)
        self.mixed = {
            name: words.labels[shuffled(words.kinds, config.shuffles, config.seed)]
            for name, words in text.tests.items()
        }

    def __call__(self, model: Any, about: Record) -> list[Record]:
        """Every number of the model, each as `about` says otherwise, of the text's language where it says none."""
        model.eval()
        about = replace(about, language=self.text.language)
        made = (self._losses, self._pull, self._alignment, self._sentences, self._words)
        return [record for measured in made for record in measured(model, about)]

    def _beside(self, name: str) -> str:
        """Where a number is about the source, the language that the model learnt beside it; else nothing."""
        return self.text.language if name == SOURCE else ""

    def _losses(self, model: Any, about: Record) -> Iterator[Record]:
        """The loss on held-out text of each language, with a fixed mask; chance: who knows how frequent types are."""
        for name, rows in self.text.masked.items():
            rows = rows.to(_device(model))
            loss, count, values = masked_loss(model, rows, self.config.shuffles, self.config.seed)
            yield replace(
                about,
                measure=HELD_OUT,
                metric="nats",
                language=name,
                first=self._beside(name),
                value=loss,
                count=count,
                null=null(values, self.text.unigram[name]),
            )

    def _pull(self, model: Any, about: Record) -> Iterator[Record]:
        """The cosine of the languages' gradients; chance: 0, as of vectors that have nothing to do with each other.

        The null is the wider of two: units are shuffled, and the parts of the texts have signs that are drawn.
        """
        ours, theirs = (gradient_parts(model, rows.to(_device(model))) for rows in self.text.pulled)
        first, second = whole(ours), whole(theirs)
        shuffles, seed = self.config.shuffles, self.config.seed
        of_units = null(shuffled_cosines(first, second, shuffles, seed), 0.0)
        of_text = null(noise_cosines(ours, theirs, shuffles, seed), 0.0)
        yield replace(
            about,
            measure=GRADIENTS,
            metric="layers",
            value=gradient_cosine(first, second),
            count=sum(gradient.numel() for gradient in first),
            null=either(of_units, of_text),
        )

    def _alignment(self, model: Any, about: Record) -> Iterator[Record]:
        """alignment@1 of types; chance: one of the candidates."""
        if self.text.types is None:
            return
        shares = alignment_of_model(model, self.text.types).shares
        for metric, of_none in alignment_nulls(model, self.text.types, self.config.shuffles, self.config.seed).items():
            value, count = shares[metric]
            yield replace(about, measure=ALIGNMENT, metric=metric, value=value, count=count, null=of_none)

    def _sentences(self, model: Any, about: Record) -> Iterator[Record]:
        """Retrieval of translations, both ways and mutually, and CKA, by layer.

        For retrieval pairs are shuffled among sentences of the same length, for CKA types exchanged for others that are
        as frequent. Chance: of retrieval one way one sentence of N, of both ways the largest of 2N - 1 cosines; of CKA
        the mean after exchanges.
        """
        sides = [
            sentence_means(model, rows, number) for rows, number in zip(self.text.pairs, self.text.numbers, strict=True)
        ]
        n, types = len(self.text.pairs[0]), type_means(model, self.text.pairs[1], self.text.numbers[1])
        here, turned = np.arange(n), np.argsort(self.pairings, axis=1)
        for layer, (source, other) in enumerate(zip(*sides, strict=True)):
            at = replace(about, measure=RETRIEVAL, metric="cosine", layer=layer, count=n)
            forward, back = nearest(source, other), nearest(other, source)
            yield self._found(at, found(forward, here), found(forward, self.pairings), 1 / n)
            turned_round = replace(at, language=SOURCE, first=about.language)
            yield self._found(turned_round, found(back, here), found(back, turned), 1 / n)
            both = found_mutually(forward, back, here)
            shuffled_both = found_mutually(forward, back, self.pairings)
            yield self._found(replace(at, metric="mexa"), both, shuffled_both, 1 / (2 * n - 1))
            of_none = null(types.exchanged_ckas(source, other, layer, self.config.shuffles, self.config.seed))
            alike = linear_cka(source, other)
            yield replace(at, measure=CKA, metric="sentences", value=alike, null=of_none)

    def _found(self, at: Record, hits: np.ndarray, shuffled_hits: np.ndarray, chance: float) -> Record:
        return replace(at, value=float(hits.mean()), null=null(shuffled_hits.mean(1), chance))

    def _words(self, model: Any, about: Record) -> Iterator[Record]:
        """Labels by a linear probe that learnt them from source words; chance: the label most frequent in training.

        The null is the wider of two: words are shuffled among those at the same place in rows of the same length, and
        types exchanged for others that are as frequent.
        """
        train, (own, _) = self.text.train, self.text.numbers
        probe = LinearProbe.fitted(_vectors(model, train, own), train.labels)
        usual = np.bincount(train.labels).argmax()
        for (name, words), number in zip(self.text.tests.items(), self.text.numbers, strict=True):
            said = probe(_vectors(model, words, number))
            right = float((words.labels == usual).mean())
            of_places = null((said == self.mixed[name]).mean(1), right)
            shuffles, seed = self.config.shuffles, self.config.seed
            of_types = null(exchanged_accuracies(said, words.labels, words.types, shuffles, seed), right)
            yield replace(
                about,
                measure=LINEAR,
                metric="accuracy",
                task=self.task,
                language=name,
                first=self._beside(name),
                value=float((said == words.labels).mean()),
                count=len(said),
                null=either(of_places, of_types),
            )


def _vectors(model: Any, words: TaggedWords, language: int) -> Tensor:
    """The last layer's state of each word, (N, H)."""
    rows: dict[int, Tensor] = {}
    for places, made in states(model, words.rows, language):
        rows.update(zip(places, made[-1], strict=True))
    return torch.stack([rows[row][place] for row, place in words.at.tolist()])


def _device(model: Any) -> torch.device:
    device: torch.device = next(model.parameters()).device
    return device
