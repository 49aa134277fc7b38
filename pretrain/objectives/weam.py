"""WEAM: TLM that also predicts masked words from the vectors of their translations (Yang et al. 2021).

Shapes: B pairs, one per row, L ids per row, hidden size H, Q masked ids with a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calque.derive.languages import Languages
from calque.pretrain.batch import UNLABELLED, Batch, LinkedPairs
from calque.pretrain.bitext import USUAL, LinkObjective, PairStream
from calque.pretrain.lazy import Tensor, nn, torch
from calque.pretrain.model import cross_entropy, encode, prediction_loss
from calque.pretrain.objective import GROWN, Learner, Linked, Stream

EXCHANGE = "exchange"
MASKS = 0.3  # the paper's mask rate


@dataclass(frozen=True)
class MaskedLinks(Batch):
    """The K links of masked ids. `at` (Q,) contains the flat positions of linked masked ids on both sides;
    link k connects the id at `at[of[k]]` to the id at `other[k]`."""

    at: Tensor
    other: Tensor
    of: Tensor


@dataclass(frozen=True)
class ExchangePairs(LinkedPairs):
    """Linked sentence pairs; `found` contains the links of masked ids, if already computed."""

    found: MaskedLinks | None = None

    def cut(self, rows: slice) -> ExchangePairs:
        return replace(super().cut(rows), found=None)

    def ready(self) -> ExchangePairs:
        return replace(super().ready(), found=self.masked)

    @property
    def masked(self) -> MaskedLinks:
        width = self.pairs.rows.labels.shape[1]
        first, second = (self.links.row * width + side for side in (self.links.first, self.links.second))
        here, other = torch.cat([first, second]), torch.cat([second, first])
        masked = self.pairs.rows.labels.flatten().index_select(0, here) != UNLABELLED
        at, of = here[masked].unique(return_inverse=True)
        return MaskedLinks(at, other[masked], of)


class Exchanged(PairStream):
    """Sentence pairs whose masked ids are predicted by TLM and, if linked, from vectors on the other side."""

    def __init__(self, languages: Languages, length: int, seed: int, objective: WEAM) -> None:
        super().__init__(languages, length, seed, objective)
        self.weights = {"tlm": 1.0, EXCHANGE: objective.weight}

    def draw(
        self, instances: Sequence[int], random: np.random.Generator
    ) -> tuple[ExchangePairs, dict[str, int]]:
        drawn = self.draw_linked(instances, random)
        batch = ExchangePairs(drawn.pairs, drawn.links)
        return batch, {"tlm": batch.pairs.rows.labelled, EXCHANGE: len(batch.masked)}

    def losses(self, learner: Learner, batch: ExchangePairs) -> dict[str, Tensor]:
        model, rows = learner.model, batch.pairs.rows
        links = batch.masked if batch.found is None else batch.found
        layers = model.config.num_hidden_layers
        hidden = encode(model, rows, layers)
        vectors = mean_of(hidden.flatten(0, 1).index_select(0, links.other), links.of, len(links))
        labels = rows.labels.flatten().index_select(0, links.at)
        exchanged = cross_entropy(learner.own[EXCHANGE], vectors, labels, model.config.vocab_size)
        return {"tlm": prediction_loss(model, rows, hidden, layers), EXCHANGE: exchanged}


def mean_of(vectors: Tensor, of: Tensor, size: int) -> Tensor:
    """Average the vectors (K, H) in each of `size` groups: the paper's A^T H, with normalised rows."""
    ones = torch.ones_like(of, dtype=torch.float32)
    counts = vectors.new_zeros(size, dtype=torch.float32).index_add(0, of, ones)
    sums = vectors.new_zeros(size, vectors.shape[1]).index_add(0, of, vectors)
    return sums / counts.clamp(min=1)[:, None].to(sums.dtype)


@dataclass(frozen=True)
class WEAM(LinkObjective):
    """L_mp + weight * L_cp: TLM, plus predicting masked ids from the vectors of their translations (section
    2.2). Links are gold links, or fast_align's, symmetrised by grow-diag-final-and. If two linked words have
    the same number of sub-words, these are linked one-to-one, in order; otherwise, every sub-word of one is
    linked to every sub-word of the other, and vectors are averaged."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASKS
    weight: float = 1.0
    links: Linked = GROWN

    short_name = full_name = "WEAM"
    summary = (
        "WEAM predicts masked words in translated sentence pairs twice: from the pair, and from the vectors "
        "of the words that they are linked to."
    )
    paper = "Yang et al. 2021"

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import Exchange

        return {EXCHANGE: Exchange(model)}

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Exchanged(languages, length, seed, self)]
