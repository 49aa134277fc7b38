"""WEAM: masked words are also predicted from the vectors of their translations (Yang et al. 2021).

Shapes: B pairs, one per row, L ids per row, H hidden, Q masked ids with a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from calque.derive.languages import Languages
from calque.pretrain.batch import UNLABELLED, LinkedPairs
from calque.pretrain.bitext import USUAL, LinkObjective, PairStream
from calque.pretrain.config import ModelConfig
from calque.pretrain.cost import PAIR, encoder_flops_per_id, head_flops_per_id
from calque.pretrain.model import Learner, cross_entropy, encode, prediction_loss
from calque.pretrain.objective import GROWN, Linked, Stream

EXCHANGE = "exchange"
MASKS = 0.3  # the paper's mask rate


class Exchange(nn.Module):
    """A linear layer over exchanged vectors, and a separate prediction head on the model's table (eq. 6 to 8)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        table = model.get_input_embeddings().weight
        width = table.shape[1]
        self.exchanged, self.dense, self.linear = (nn.Linear(width, width) for _ in range(3))
        self.table = table

    def forward(self, hidden: Tensor) -> Tensor:
        """Logits over the types, (Q, V), at exchanged vectors (Q, H)."""
        return self.linear(F.gelu(self.dense(self.exchanged(hidden)))) @ self.table.T


class Exchanged(PairStream):
    """Sentence pairs, predicted by TLM and, for masked ids with a link, from the other side."""

    def __init__(self, languages: Languages, length: int, seed: int, objective: WEAM) -> None:
        super().__init__(languages, length, seed, objective)
        self.weights = {"tlm": 1.0, EXCHANGE: objective.weight}

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[LinkedPairs, dict[str, int]]:
        batch = self.draw_linked(instances, random)
        masked, _ = _masked_links(batch)
        return batch, {"tlm": batch.pairs.rows.labelled, EXCHANGE: int(masked.unique().numel())}

    def losses(self, learner: Learner, batch: LinkedPairs) -> dict[str, Tensor]:
        model, rows = learner.model, batch.pairs.rows
        layers = model.config.num_hidden_layers
        hidden = encode(model, rows, layers)
        masked, other = _masked_links(batch)
        places, own = masked.unique(return_inverse=True)
        vectors = mean_of(hidden.flatten(0, 1).index_select(0, other), own, len(places))
        labels = rows.labels.flatten().index_select(0, places)
        return {
            "tlm": prediction_loss(model, rows, hidden, layers),
            EXCHANGE: cross_entropy(learner.own[EXCHANGE], vectors, labels, model.config.vocab_size),
        }


def mean_of(vectors: Tensor, of: Tensor, size: int) -> Tensor:
    """The mean of the vectors (K, H) of each of `size` groups, (size, H): A^T H with normalised rows."""
    counts = torch.bincount(of, minlength=size).clamp(min=1)
    sums = vectors.new_zeros(size, vectors.shape[1]).index_add(0, of, vectors)
    return sums / counts[:, None].to(sums.dtype)


def _masked_links(batch: LinkedPairs) -> tuple[Tensor, Tensor]:
    """The flat positions of each masked id with a link, on either side, and of the id that it is linked to."""
    links, width = batch.links, batch.pairs.rows.labels.shape[1]
    first, second = (links.row * width + side for side in (links.first, links.second))
    here, other = torch.cat([first, second]), torch.cat([second, first])
    masked = batch.pairs.rows.labels.flatten().index_select(0, here) != UNLABELLED
    return here[masked], other[masked]


@dataclass(frozen=True)
class WEAM(LinkObjective):
    """L_mp + weight x L_cp: TLM, and the prediction of masked ids from the vectors of their translations (section 2.2).
    Links are fast_align's, symmetrised by grow-diag-final-and, or gold links. Linked words with equally many sub-words
    link these one to one, others all to all, with averaged vectors."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASKS
    weight: float = 1.0
    links: Linked = GROWN

    short_name = full_name = "WEAM"
    summary = (
        "WEAM predicts masked words in translated sentence pairs twice: from the pair, and from the vectors of the "
        "words that they are linked to."
    )
    paper = "Yang et al. 2021"

    def pair_flops(self, model: ModelConfig, types: int, resting: bool) -> float:
        """All layers in full, and two heads at the masked positions, assumed to have equal cost."""
        encoder, head = encoder_flops_per_id(model, PAIR), head_flops_per_id(model, types)
        return (1 if resting else 3) * encoder + 2 * self.mask_rate * head * (2 / 3 if resting else 1)

    def modules(self, model: Any) -> dict[str, nn.Module]:
        return {EXCHANGE: Exchange(model)}

    def streams(self, languages: Languages, length: int, seed: int) -> list[Stream]:
        return [Exchanged(languages, length, seed, self)]
