"""WEAM: TLM that also predicts masked words from the vectors of their translations (Yang et al. 2021).

Shapes: B pairs, one per row, L ids per row, hidden size H, Q masked ids with a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calque.pretrain.batch import UNLABELLED, LinkedPairs, PlaceLinks
from calque.pretrain.bitext import GOLD_LINKS, PARALLEL, USUAL, PairObjective, PairStream
from calque.pretrain.lazy import Tensor, nn, torch
from calque.pretrain.model import cross_entropy, encode, prediction_loss
from calque.pretrain.objective import GROWN, Learner, Linked

EXCHANGE = "exchange"
MASKS = 0.3  # the paper's mask rate


class Exchanged(PairStream):
    """Pairs whose masked ids are predicted by TLM and, if linked, also from the other side's vectors."""

    def draw(
        self, instances: Sequence[int], random: np.random.Generator
    ) -> tuple[LinkedPairs, dict[str, int]]:
        pairs, links = self.sentence_pairs(instances), []
        swaps = random.random(len(pairs)) < 0.5
        rows = self.masked(pairs, random, swaps)
        for (bitext, pair), swap, size in zip(pairs, swaps, rows.sides[:, 0].tolist(), strict=True):
            pair_links = bitext.piece_links(pair)
            # Positions on the second side come after `<s>`, the first side and its `</s>`.
            links.append((pair_links[:, ::-1] if swap else pair_links) + [1, size + 2])
        batch = LinkedPairs(rows, PlaceLinks.of(links))
        return batch, {"tlm": batch.pairs.rows.labelled, EXCHANGE: len(masked_links(batch)[0])}

    def losses(self, learner: Learner, batch: LinkedPairs) -> dict[str, Tensor]:
        model, rows = learner.model, batch.pairs.rows
        layers, (positions, counterparts, groups) = model.config.num_hidden_layers, masked_links(batch)
        hidden = encode(model, rows, layers)
        vectors = mean_of(hidden.flatten(0, 1).index_select(0, counterparts), groups, len(positions))
        labels = rows.labels.flatten().index_select(0, positions)
        exchanged = cross_entropy(learner.own[EXCHANGE], vectors, labels)
        return {"tlm": prediction_loss(model, rows, hidden, layers), EXCHANGE: exchanged}


def masked_links(batch: LinkedPairs) -> tuple[Tensor, Tensor, Tensor]:
    """Return the flat positions of linked masked ids on both sides, (Q,), and their K links:
    `targets[groups[k]]` is linked to `counterparts[k]`."""
    labels, links = batch.pairs.rows.labels, batch.links
    first, second = (links.row * labels.shape[1] + side for side in (links.first, links.second))
    positions, counterparts = torch.cat([first, second]), torch.cat([second, first])
    masked = labels.flatten().index_select(0, positions) != UNLABELLED
    targets, groups = positions[masked].unique(return_inverse=True)
    return targets, counterparts[masked], groups


def mean_of(vectors: Tensor, groups: Tensor, size: int) -> Tensor:
    """Average vectors (K, H) in `size` groups: the paper's A^T H, with normalised rows."""
    ones = torch.ones_like(groups, dtype=torch.float32)
    counts = vectors.new_zeros(size, dtype=torch.float32).index_add(0, groups, ones)
    sums = vectors.new_zeros(size, vectors.shape[1]).index_add(0, groups, vectors)
    return sums / counts.clamp(min=1)[:, None].to(sums.dtype)


@dataclass(frozen=True)
class WEAM(PairObjective):
    """WEAM predicts each masked word in a translated sentence pair twice: from the pair, and from the
    hidden states of its linked words.

    The loss is L_mp + weight * L_cp (section 2.2). Links are gold links, or fast_align's. Two linked words
    with the same number of sub-words are linked one-to-one, in order; otherwise, all their sub-words are
    linked, and vectors are averaged."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASKS
    weight: float = 1.0
    links: Linked = GROWN

    short_name = full_name = "WEAM"
    stream_types = (Exchanged,)
    forms = (PARALLEL, GOLD_LINKS)
    paper = "Yang et al. 2021"

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import Exchange

        return {EXCHANGE: Exchange(model)}

    @property
    def weights(self) -> dict[str, float]:
        return {"tlm": 1.0, EXCHANGE: self.weight}
